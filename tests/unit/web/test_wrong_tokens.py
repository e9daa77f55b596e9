"""Requests with wrong tokens are delayed, counted and logged; others are not delayed."""

import asyncio
from types import SimpleNamespace

from mixsearch.web.middleware import wrong_tokens
from mixsearch.web.middleware.wrong_tokens import WrongTokens


def test_each_wrong_token_of_an_address_waits_longer_up_to_a_limit(monkeypatch, caplog):
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    monkeypatch.setattr(wrong_tokens, "asyncio", SimpleNamespace(sleep=sleep))
    wrong = WrongTokens()
    for _ in range(8):
        asyncio.run(wrong.delay("10.0.0.1"))
    asyncio.run(wrong.delay("10.0.0.2"))
    assert waited[:3] == [0.1, 0.2, 0.4]
    assert waited[7] == 5.0
    assert waited[8] == 0.1
    assert [each.getMessage() for each in caplog.records] == ["10.0.0.1 sent a wrong token, 1 by now."]


def test_an_address_is_forgotten_and_their_number_is_limited(monkeypatch):
    now, waited = [1000.0], []

    async def sleep(seconds):
        waited.append(seconds)

    monkeypatch.setattr(wrong_tokens, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(wrong_tokens, "monotonic", lambda: now[0])
    monkeypatch.setattr(wrong_tokens, "_MAX_ADDRESSES", 1)
    wrong = WrongTokens()
    asyncio.run(wrong.delay("a"))
    now[0] += 601
    asyncio.run(wrong.delay("a"))
    asyncio.run(wrong.delay("b"))
    asyncio.run(wrong.delay("a"))
    assert waited == [0.1, 0.1, 0.1, 0.1]
