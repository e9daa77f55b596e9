"""`mixsearch serve`: its options, and a server in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from urllib.request import Request, urlopen

import pytest
from tests.apps.cli import invoke
from tests.served_corpus import draw_texts, make_index

from mixsearch import SearchError
from mixsearch.cli.serve import open_named
from mixsearch.web.server import listen, make_url


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("served"))


@contextmanager
def started(*arguments):
    """Return the process and the address that it prints."""
    options = ["--no-open", "--port", "0"]
    command = [sys.executable, "-m", "mixsearch", "serve", *map(str, arguments), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            said = "".join(iter(lambda: _line(process), ""))
            yield process, re.search(r"Open (\S+)", said)[1], said
        finally:
            process.kill()


def _line(process):
    """Return the next line of standard error; "" after the one with the address."""
    if getattr(process, "is_open", False):
        return ""
    line = process.stderr.readline()
    process.is_open = line.startswith("Open ")
    return line


def fetch(address, data=None, **headers):
    with urlopen(Request(address, data=data, headers=headers), timeout=600) as answer:
        return answer.read()


@pytest.mark.slow
def test_a_server_tells_where_it_is_answers_and_stops_at_ctrl_c(index):
    with started(index, index, "--no-token") as (process, address, said):
        assert address.startswith("http://127.0.0.1:")
        assert "corpus: 240 documents, " in said
        assert "corpus-2: 240 documents, " in said
        assert json.loads(fetch(f"{address}api/health"))["indexes"] == ["corpus", "corpus-2"]
        assert json.loads(fetch(f"{address}api/indexes/corpus-2/topic?q=sushi"))["hint"] == "sushi"
        assert b"<!doctype html>" in fetch(address)
        process.send_signal(signal.SIGINT)
        assert process.wait(600) == 0
        assert "Traceback" not in process.stderr.read()


@pytest.mark.slow
def test_a_server_that_is_killed_leaves_no_process_behind(index):
    with started(index, "--no-token") as (process, address, _):
        assert fetch(f"{address}api/indexes/corpus/topic?q=sushi")
        process.kill()
        process.wait(600)
        with suppress(ProcessLookupError):
            while True:  # until the last process of the server is gone
                os.killpg(process.pid, 0)
                time.sleep(0.1)


@pytest.fixture
def runs(monkeypatch):
    """What would be served, without a server."""
    runs = []
    monkeypatch.setattr("mixsearch.cli.serve.run_server", lambda *arguments, **_: runs.append(arguments))
    return runs


def test_a_token_is_made_and_kept_beside_the_index(index, runs):
    for _ in range(2):  # a restart locks no open tab out
        assert invoke("serve", index).exit_code == 0
    first, second = (access for _, _, access, *_ in runs)
    assert first.token == second.token == index.with_name("corpus.index.token").read_text().strip()
    assert len({first.token, first.ticket, second.ticket}) == 3
    assert first.files


def test_options_reach_the_server(index, runs):
    options = "--workers 3 --port 9000 --no-open --allow-host A.example"
    assert invoke("serve", index, *options.split(), "--token", "long enough").exit_code == 0
    assert invoke("serve", "--no-token", "--host", "0.0.0.0", MIXSEARCH_TOKEN="not used here").exit_code == 0
    assert invoke("serve", index, MIXSEARCH_TOKEN="from outside").exit_code == 0
    (opened, limits, access, address), (_, _, unprotected, _), (_, _, outside, _) = runs
    assert list(opened) == ["corpus"]
    assert limits.workers == 3
    assert (access.token, access.hosts) == ("long enough", ("127.0.0.1", "a.example"))
    assert (address.host, address.port, address.open) == ("127.0.0.1", 9000, False)
    assert (unprotected.token, unprotected.files) == (None, False)
    assert outside.token == "from outside"


@pytest.mark.parametrize("arguments", [["--token", "short"], ["--token", "long enough", "--no-token"]])
def test_a_wrong_command_ends_with_code_2(arguments, runs):
    assert invoke("serve", *arguments).exit_code == 2
    assert not runs


@pytest.mark.parametrize(
    ("arguments", "named"), [(["no/such.index"], "no/such.index"), (["--host", "192.0.2.1"], "192.0.2.1")]
)
def test_an_error_ends_with_code_1_and_names_its_cause(arguments, named):
    result = invoke("serve", *arguments, "--no-open")
    assert result.exit_code == 1
    assert named in result.stderr.splitlines()[-1]


@pytest.fixture
def reviews(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("title,year,review\n" + "".join(f"Number {i},{2000 + i % 9},{text}\n" for i, text in texts()))
    return path


def texts(seed=0):
    clean = [text.replace('"', "") for text in draw_texts(seed=seed)]
    return enumerate(clean[1:])  # the first has half a character


def test_a_file_is_indexed_once_and_again_when_it_changes(reviews, capfd):
    opened = open_named([str(reviews)])
    assert list(opened) == ["reviews"]
    assert opened["reviews"].n_documents == 239
    assert "Indexing " in capfd.readouterr().err
    created = opened["reviews"].created
    assert open_named([str(reviews)])["reviews"].created == created
    assert capfd.readouterr().err == ""
    with reviews.open("a") as out:
        out.writelines(f"More {i},2020,{text}\n" for i, text in texts(seed=1))
    again = open_named([str(reviews)])["reviews"]
    assert again.n_documents == 2 * 239
    assert str(again.path).startswith(str(reviews.parent / ".mixsearch"))


def test_a_port_in_use_is_said_and_by_default_another_is_taken():
    with closing(listen("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(SearchError) as refused:
            listen("127.0.0.1", port)
        assert refused.value.code == "cannot_listen"
        with closing(listen("127.0.0.1", None, usual_port=port)) as second:
            assert second.getsockname()[1] != port


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_the_address_is_one_that_a_browser_opens(host):
    with closing(listen(host, 0)) as listener:
        assert make_url(listener, host).startswith(f"http://127.0.0.1:{listener.getsockname()[1]}/")
