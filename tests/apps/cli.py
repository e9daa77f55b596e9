"""Run commands in the process of the tests."""

from typer.testing import CliRunner, Result

from mixsearch.cli.app import app


def invoke(*arguments: object, input: str | None = None, **env: str) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments], input=input, env={"COLUMNS": "80", **env})
