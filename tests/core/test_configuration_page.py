"""The page on configuration: its examples are valid, and no key is left out."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from example_sanity import checks, session
from example_sanity.core.config import Config, PerFileIgnore
from example_sanity.core.rule import Family
from helpers import Write

PAGE = (Path(__file__).parents[2] / "docs/configuration.md").read_text("utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", EXAMPLES, ids=[text.split("\n")[0] for text in EXAMPLES])
def test_the_examples_are_valid(write: Write, text: str) -> None:
    checker = "tests/special_sanity/check_example_naming.py"
    root = write({"pyproject.toml": text, checker: "DEFAULT_IGNORE_FILES = ()\n"})
    assert session.open_run((), root=root).entries is not None


def _section(title: str) -> str:
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def _keys(struct: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(struct)} - {"families", "path"}


def test_every_general_key_is_described() -> None:
    assert _keys(Config) - {"per-file-ignore"} <= set(re.findall(r"`([\w-]+)`", _section("General keys")))
    assert _keys(PerFileIgnore) <= set(re.findall(r"`([\w-]+)`", _section("`[[per-file-ignore]]`")))


@pytest.mark.parametrize(
    "family", [f for f in checks.registry().families if f.name != "system"], ids=lambda f: f.name
)
def test_every_key_of_a_family_is_described(family: Family) -> None:
    text = _section(f"`[{family.name}]`")
    assert text, f"docs/configuration.md has no section `[{family.name}]`"
    assert _keys(family.options) <= set(re.findall(r"`([\w-]+)`", text))
