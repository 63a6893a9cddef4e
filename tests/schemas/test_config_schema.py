"""The schema of the configuration: current, right about real configurations, and found by validate-pyproject."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest
from validate_pyproject import api
from validate_pyproject.errors import ValidationError
from validate_pyproject.plugins import PluginWrapper

from example_sanity import checks, schemas
from example_sanity.core.config import load, parse_toml
from example_sanity.core.errors import UsageError
from example_sanity.core.registry import Registry
from helpers import Write, cli
from spy import SpyPlugin

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads(schemas.SHIPPED.read_text("utf-8"))
OURS = Registry([checks.Builtin()], discover=False)


def _documented() -> list[dict[str, Any]]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    blocks = [
        block for page in pages for block in re.findall(r"(?ms)^```toml\n(.*?)^```", page.read_text("utf-8"))
    ]
    tables = [parse_toml(block).get("tool", {}).get("example-sanity") for block in blocks]
    return [table for table in tables if table is not None]


def test_the_shipped_schema_is_current() -> None:
    assert schemas.SHIPPED.read_text("utf-8") == schemas.encode(schemas.config_schema(OURS)), (
        f"run: example-sanity schema config > {schemas.SHIPPED}"
    )


def test_the_schema_is_one() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


def test_our_own_configuration_is_valid() -> None:
    jsonschema.validate(
        parse_toml((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["example-sanity"], SCHEMA
    )


def test_what_the_documentation_shows_is_valid() -> None:
    tables = _documented()

    assert len(tables) > 2
    for table in tables:
        jsonschema.validate(table, SCHEMA)


@pytest.mark.parametrize("name", OURS.presets)
def test_presets_are_valid(name: str) -> None:
    jsonschema.validate(json.loads(json.dumps(OURS.presets[name])), SCHEMA)


@pytest.mark.parametrize(
    "toml",
    [
        "exclud = ['a']",
        "exclude = 'a'",
        "fail-on = 'never'",
        "per-file-ignore = [{ path = 'a' }]",
        "ignores.list = [{ file = 'a.py', name = 'X', famly = 'naming' }]",
    ],
)
def test_the_schema_refuses_what_the_tool_refuses(write: Write, toml: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(parse_toml(toml), SCHEMA)
    with pytest.raises(UsageError):
        load(write({"example-sanity.toml": toml}), OURS.families, OURS.presets)


def test_the_command_prints_both_schemas(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(capsys, "schema", "config")[1] == schemas.SHIPPED.read_text("utf-8")
    assert json.loads(cli(capsys, "schema", "report")[1])["title"] == "example-sanity report, version 1"


def test_tables_of_plugins_are_part_of_it() -> None:
    schema = schemas.config_schema(Registry([checks.Builtin(), SpyPlugin()], discover=False))

    jsonschema.validate({"spy": {}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"spy": {}}, SCHEMA)


def test_validate_pyproject_uses_it() -> None:
    load_schema = cast("Any", schemas.tool_schema)
    validator = api.Validator([PluginWrapper(schemas.TOOL, load_schema)])
    project: dict[str, Any] = {"build-system": {"requires": []}}

    validator({**project, "tool": {"example-sanity": {"preset": "verl", "naming": {"roots": ["a"]}}}})
    with pytest.raises(ValidationError, match=r"example-sanity.*must not contain .*'exclud'"):
        validator({**project, "tool": {"example-sanity": {"exclud": []}}})
