"""A real server: its address, and requests that no test client can send."""

import socket
from contextlib import closing, suppress
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from tests.serving import serve

from mixsearch import SearchError
from mixsearch.web import Limits
from mixsearch.web.server import listen, make_url


@pytest.fixture(scope="module")
def address():
    with serve({}, limits=Limits(timeout=120)) as serving:
        yield serving.address.rstrip("/")


def send(address, request):
    """Send bytes, and return what the server answers until it closes the connection."""
    split, received = urlsplit(address), b""
    with closing(socket.create_connection((split.hostname, split.port), timeout=120)) as client:
        with suppress(OSError):  # it need not take all
            client.sendall(request)
        with suppress(ConnectionResetError):
            while part := client.recv(65536):
                received += part
    return received


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused(address, request_bytes):
    received = send(address, request_bytes)
    assert received == b"" or received.startswith(b"HTTP/1.1 4")
    with urlopen(f"{address}/api/health", timeout=120) as answer:
        assert answer.status == 200


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
