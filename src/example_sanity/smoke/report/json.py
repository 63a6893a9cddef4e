"""The report for machines. ``"version": 1`` names the shape; within a version fields are only added.

A number that was not finite is null, and its name is in ``non_finite`` of its step.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from example_sanity.smoke.result import SmokeResult

VERSION: Literal[1] = 1
SHIPPED = Path(__file__).parents[2] / "schemas" / f"smoke-{VERSION}.json"


class SmokeDocument(msgspec.Struct, frozen=True):
    """The report of ``smoke``: one run or several."""

    version: Literal[1]
    runs: tuple[SmokeResult, ...]


def render(results: Sequence[SmokeResult]) -> str:
    """Return the document."""
    data = msgspec.to_builtins(SmokeDocument(VERSION, tuple(results)), enc_hook=_encode)
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _encode(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))


def schema() -> str:
    """Return the JSON schema of the document as text."""
    # Unknown fields stay allowed, so that a validator of today accepts the fields of tomorrow.
    document: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"example-sanity smoke report, version {VERSION}",
        **msgspec.json.schema(SmokeDocument, schema_hook=_schema_of),
    }
    return json.dumps(document, indent=2) + "\n"


def _schema_of(kind: type) -> dict[str, Any]:
    if issubclass(kind, Path):
        return {"type": "string"}
    raise NotImplementedError(kind)
