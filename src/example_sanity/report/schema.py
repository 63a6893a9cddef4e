"""The JSON schema of the report. ``python -m example_sanity.report.schema`` prints it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from example_sanity.report.json import VERSION, Document

SHIPPED = Path(__file__).parent.parent / "schemas" / f"report-{VERSION}.json"


def document() -> str:
    """Return the schema as text, from the structs that the JSON report is made of."""
    # Unknown fields stay allowed, so that a validator of today accepts the fields of tomorrow.
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"example-sanity report, version {VERSION}",
        **msgspec.json.schema(Document),
    }
    return json.dumps(schema, indent=2) + "\n"


if __name__ == "__main__":
    print(document(), end="")
