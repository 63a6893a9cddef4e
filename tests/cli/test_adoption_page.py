"""The page on adoption says what is so: its suppressions are valid, and its commands and options exist."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from example_sanity import checks
from example_sanity.cli import cli
from example_sanity.core import suppressions
from example_sanity.core.markup import MarkdownComments
from example_sanity.launch.comments import ShellComments

TEXT = (Path(__file__).parents[2] / "docs/adoption.md").read_text("utf-8")
SHELL = re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL)
CALLS = sorted(
    set(re.findall(r"`?example-sanity ([a-z][^`#\n]*)", TEXT)) | set(re.findall(r"`(check -[^`\n]*)`", TEXT))
)


def test_the_page_itself_suppresses_nothing() -> None:
    assert MarkdownComments().comments(TEXT, "sanity") == []


@pytest.mark.parametrize("text", SHELL)
def test_its_suppressions_are_valid(text: str) -> None:
    found = suppressions.read("a.sh", text, ShellComments(), checks.registry())

    assert found
    for item in found:
        assert (item.malformed, item.unknown) == (False, {})
        assert item.reason
        assert item.covers is None or item.covers[0] <= item.covers[1]


@pytest.mark.parametrize("call", CALLS)
def test_its_commands_and_options_exist(call: str) -> None:
    name, *words = call.split()
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    known = {
        option
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in (*parameter.opts, *parameter.secondary_opts)
    }

    assert {word for word in words if word.startswith("-")} <= known
