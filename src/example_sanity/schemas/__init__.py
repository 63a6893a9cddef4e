"""The JSON schemas: of the configuration, made from the structs that read it, and of the JSON reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from example_sanity.core.config import Config

if TYPE_CHECKING:
    from example_sanity.core.registry import Registry

TOOL = "example-sanity"
SHIPPED = Path(__file__).parent / "config.json"
_REFERENCE = "#/definitions/{name}"
_INTERNAL = ("families", "path")


def config_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema (draft 7) of ``[tool.example-sanity]`` with the tables of the families in ``registry``."""
    kinds = [Config, *(family.options for family in registry.families)]
    references, definitions = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    definitions = _without_null(definitions)
    table = definitions.pop(references[0]["$ref"].rpartition("/")[2])
    properties = {key: value for key, value in table["properties"].items() if key not in _INTERNAL}
    properties["preset"] = {"enum": sorted(registry.presets)}
    families = zip(registry.families, references[1:], strict=True)
    properties |= {family.name: {"description": family.title, **_all_of(ref)} for family, ref in families}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://example-sanity.readthedocs.io/en/stable/config.json",
        "title": "The configuration of example-sanity",
        "description": "[tool.example-sanity] in pyproject.toml, or example-sanity.toml",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "definitions": definitions,
    }


def _all_of(reference: dict[str, Any]) -> dict[str, Any]:
    # In draft 7, what stands beside a $ref is ignored.
    return {"allOf": [reference]}


def _without_null(schema: Any) -> Any:
    """Take out the value null: TOML has none."""
    if isinstance(schema, list):
        return [_without_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _without_null(value) for key, value in schema.items() if (key, value) != ("default", None)}
    options = [item for item in found.pop("anyOf", ()) if item != {"type": "null"}]
    if len(options) == 1:
        return {**options[0], **found}
    return {"anyOf": options, **found} if options else found


def encode(schema: dict[str, Any]) -> str:
    """Return a schema as text."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def text(name: str) -> str:
    """Return the schema ``config``, tables of installed plugins included, ``report`` or ``smoke``, as text."""
    if name == "smoke":
        from example_sanity.smoke.report.json import schema

        return schema()
    if name == "report":
        from example_sanity.report.schema import document

        return document()
    from example_sanity import checks

    return encode(config_schema(checks.registry()))


def tool_schema(tool: str) -> dict[str, Any]:
    """Return the schema of the table of ``tool``, for validate-pyproject, which finds this by its entry point."""
    from example_sanity import checks

    del tool
    return config_schema(checks.registry())
