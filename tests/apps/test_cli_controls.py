"""Documents cannot control the terminal; signals end a command in one line."""

import json
import os
import signal
import subprocess
import sys

import pytest
from tests.apps.cli import invoke
from tests.every_word import every_word

from mixsearch.cli.console import SafeConsole
from mixsearch.topics import IndexOptions, build_index

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\r"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("controls") / "evil.index"
    foods = ("sushi rice fish tuna wasabi soy", "pizza cheese oven crust basil wine")
    texts = [f"{EVIL} {foods[i % 2]} {foods[i % 2].split()[i % 6]} guest{i % 9}" for i in range(60)]
    build_index(texts, path, IndexOptions(n_components=2), every_word())
    return path


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_control_characters_of_documents_are_not_printed(index, options):
    result = invoke("topic", index, "fish", *options)
    assert result.exit_code == 0
    assert "wasabi" in result.stdout
    assert "None" not in result.stdout
    assert not set(result.stdout + result.stderr) & set("\x1b\x07\x9b\x7f")


def test_json_keeps_them_escaped(index):
    shown = json.loads(invoke("topic", index, "fish", "--json").stdout)
    assert any("\x1b]0;owned" in (document["snippet"] or "") for document in shown["documents"])


def test_a_terminal_gets_the_colors_of_a_console_and_nothing_else():
    console = SafeConsole(force_terminal=True, color_system="standard", width=80, highlight=False)
    with console.capture() as captured:
        console.print(f"[red]a[/] {EVIL}b")
    assert captured.get().replace("\x1b[31m", "").replace("\x1b[0m", "") == "a ␛]0;owned␛[2J�31m␡b\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM between processes")
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_command_in_a_sentence(index, sent):
    wait = "print('ready', flush=True); time.sleep(60)"
    code = (
        f"import sys, time\nimport mixsearch.cli.queries as queries\nqueries.read_hints = lambda path: exec({wait!r})"
    )
    run = f"sys.argv = ['mixsearch', 'topic', {str(index)!r}, '--hints', '-']\nfrom mixsearch.cli import main\nmain()"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", f"{code}\n{run}"], text=True, **pipes)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(sent)
    _, errors = process.communicate(timeout=60)
    assert errors.strip() == "Stopped."
    assert process.returncode == 130
