"""A real server keeps serving while clients misbehave."""

import gc
import json
import socket
import sys
import threading
import time
from contextlib import ExitStack, closing, suppress
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from tests.served_corpus import open_made
from tests.serving import serve

from mixsearch import SearchError
from mixsearch.web import Limits, listen, make_url

pytestmark = pytest.mark.slow

LIMITS = Limits(timeout=2.0, max_body=10_000, max_connections=40)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serve({"texts": open_made(tmp_path_factory.mktemp("served"))}, limits=LIMITS) as serving:
        yield serving.address.rstrip("/")


@pytest.fixture(autouse=True)
def still_serves(address):
    """After every test, check that the server answers and closes connections."""
    yield
    for _ in range(100):
        try:
            with urlopen(f"{address}/api/indexes/texts/topic?q=sushi", timeout=60) as answer:
                assert json.load(answer)["hint"] == "sushi"
            return
        except OSError:  # it is still closing others
            time.sleep(0.1)
    pytest.fail("the server no longer answers")


def connect(address):
    split = urlsplit(address)
    return socket.create_connection((split.hostname, split.port), timeout=60)


def until_closed(client):
    """Return what the server sends until it closes the connection."""
    received = b""
    with closing(client):
        try:
            while part := client.recv(65536):
                received += part
        except ConnectionResetError:
            pass
    return received


def head(address, method="GET", path="/api/health", **headers):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {urlsplit(address).netloc}"]
    return "\r\n".join([*lines, *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]).encode()


def test_a_connection_without_a_request_is_closed(address):
    assert until_closed(connect(address)) == b""


@pytest.mark.parametrize("start", [b"G", b"GET /api/health HTTP/1.1\r\nHost: a", b"\r\n"])
def test_half_a_request_is_not_waited_for(address, start):
    client = connect(address)
    client.sendall(start)
    until_closed(client)


def test_headers_that_trickle_in_do_not_put_off_the_end(address):
    client, begin = connect(address), time.monotonic()
    client.settimeout(0.05)
    try:
        client.sendall(head(address))
        while time.monotonic() - begin < 60:
            client.sendall(b"x")
            try:
                if not client.recv(10):
                    break
            except TimeoutError:
                continue
        else:
            pytest.fail("the server waited for a client that never ends its headers")
    except OSError:
        pass  # closed while more was sent
    finally:
        client.close()


def test_the_second_request_of_a_connection_is_not_waited_for_either(address):
    client = connect(address)
    client.sendall(head(address) + b"\r\n\r\n")
    assert client.recv(65536).startswith(b"HTTP/1.1 200")
    client.sendall(b"GET /api/hea")
    until_closed(client)


def test_a_body_that_does_not_come_is_not_waited_for(address):
    client = connect(address)
    client.sendall(head(address, "POST", "/api/indexes/texts/topic", Content_Length=500) + b'\r\n\r\n{"te')
    received = until_closed(client)
    assert received.startswith(b"HTTP/1.1 503")
    assert b'"too_slow"' in received


def test_bytes_after_an_answer_to_half_a_request_keep_no_connection_open(address):
    client = connect(address)
    wrong = head(address, "POST", "/api/pictures", Content_Length=100, Origin="http://evil.example")
    client.sendall(wrong + b"\r\n\r\n")
    assert b"403" in client.recv(65536)[:20]
    client.sendall(b"x")
    until_closed(client)


def test_a_client_that_does_not_read_is_given_up(address):
    with ExitStack() as stack:
        for _ in range(5):
            client = stack.enter_context(closing(connect(address)))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            request = head(address, path="/api/pictures/example.png") + b"\r\n\r\n"
            client.sendall(request * 20)


def fill_places(stack, address, n, path):
    """Open connections that request more than the buffers hold, and never read."""
    for _ in range(n):
        client = stack.enter_context(closing(connect(address)))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        with suppress(OSError):
            client.sendall((head(address, path=path) + b"\r\n\r\n") * 20)


@pytest.mark.parametrize("path", ["/api/pictures/example.png", "/static/style.css"])
def test_clients_that_do_not_read_hold_no_place_for_ever(address, path, caplog):
    with ExitStack() as stack:
        fill_places(stack, address, LIMITS.max_connections, path)
        end = time.monotonic() + 60
        while True:
            try:
                with urlopen(f"{address}/api/health", timeout=60) as answer:
                    assert answer.status == 200
                break
            except OSError:
                assert time.monotonic() < end, "all places are still taken"
                time.sleep(0.2)
    lines = [record.getMessage() for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
    assert len(lines) <= 2
    assert not any("Exception" in line for line in lines)


def test_one_address_cannot_take_all_places(tmp_path):
    limits = Limits(timeout=60.0, max_connections=40, max_per_address=3)
    with serve({}, limits=limits) as serving, ExitStack() as stack:
        address = serving.address.rstrip("/")
        clients = [stack.enter_context(closing(connect(address))) for _ in range(3)]
        assert until_closed(connect(address)) == b""
        clients[0].close()
        end = time.monotonic() + 60
        while True:
            with suppress(OSError), urlopen(f"{address}/api/health", timeout=60) as answer:
                assert answer.status == 200
                break
            assert time.monotonic() < end, "a place that was given back is not taken again"
            time.sleep(0.1)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_addresses_that_take_all_places_make_room_for_another():
    limits = Limits(timeout=60.0, max_connections=8, max_per_address=4)
    with serve({}, limits=limits) as serving, ExitStack() as stack:
        split = urlsplit(serving.address)
        for i in range(16):
            client = socket.create_connection((split.hostname, split.port), 60, (f"127.0.0.{2 + i % 2}", 0))
            stack.enter_context(closing(client))
        for _ in range(20):
            with urlopen(f"{serving.address}api/health", timeout=60) as answer:
                assert answer.status == 200


def test_a_body_that_is_too_large_is_refused_before_it_is_read(address):
    client = connect(address)
    body = b"x" * 200_000
    client.sendall(head(address, "POST", "/api/indexes/texts/topic", Content_Length=10**15) + b"\r\n\r\n")
    with suppress(OSError):  # it need not take all
        client.sendall(body)
    assert b"413" in until_closed(client)[:20]


def test_a_chunked_body_is_counted_as_it_comes(address):
    client = connect(address)
    client.sendall(head(address, "POST", "/api/indexes/texts/topic", Transfer_Encoding="chunked") + b"\r\n\r\n")
    with suppress(OSError):
        for _ in range(100):
            client.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")
    assert b"413" in until_closed(client)[:20]


@pytest.mark.parametrize(
    "request_line",
    [
        b"nonsense\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"GET /\x00\xff HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused(address, request_line):
    client = connect(address)
    with suppress(OSError):
        client.sendall(request_line)
    received = until_closed(client)
    assert received == b"" or received.startswith(b"HTTP/1.1 4")


def test_many_half_open_connections_leave_room_for_others(address):
    with ExitStack() as stack:
        clients = [stack.enter_context(closing(connect(address))) for _ in range(3 * LIMITS.max_connections)]
        for client in clients:
            with suppress(OSError):
                client.sendall(b"GET /")
        for client in clients:
            until_closed(client)
        with urlopen(f"{address}/api/health", timeout=60) as answer:
            assert answer.status == 200


def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind(address):
    before = threading.active_count()
    for _ in range(50):
        with closing(connect(address)) as client:
            client.sendall(head(address, path="/api/indexes/texts/overview") + b"\r\n\r\n")
    gc.collect()
    assert threading.active_count() <= before + LIMITS.n_threads * 2


def test_a_port_in_use_is_said_and_by_default_the_next_one_is_taken():
    with closing(listen("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(SearchError, match=f"Cannot listen on 127.0.0.1, port {port}: Address already in use"):
            listen("127.0.0.1", port)
        with closing(listen("127.0.0.1", None, first_port=port)) as second:
            assert port < second.getsockname()[1] < port + 20
        with pytest.raises(SearchError, match=f"The ports {port} to {port} are all in use"):
            listen("127.0.0.1", None, first_port=port, n_ports=1)


def test_an_address_that_is_not_ours_is_said():
    with pytest.raises(SearchError, match="Cannot listen on 192.0.2.1, port 0"):
        listen("192.0.2.1", 0)


@pytest.mark.skipif(sys.platform != "linux", reason="how much other systems take varies")
def test_the_system_takes_little_of_an_answer_that_is_not_read():
    with closing(listen("127.0.0.1", 0)) as listener, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        client.connect(listener.getsockname())
        connection, _ = listener.accept()
        with connection:
            connection.setblocking(False)
            assert connection.send(bytes(10_000_000)) < 500_000


@pytest.mark.parametrize(
    ("host", "start"), [("127.0.0.1", "http://127.0.0.1:"), ("0.0.0.0", "http://127.0.0.1:"), ("localhost", "http://l")]
)
def test_the_address_is_one_that_a_browser_opens(host, start):
    with closing(listen(host, 0)) as listener:
        assert make_url(listener, host).startswith(start)
