"""JSON, SARIF, GitLab, rdjson and JUnit: what their readers rely on."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import jsonschema
import msgspec
import pytest

from example_sanity.core.finding import Severity
from example_sanity.report import render
from example_sanity.report.model import View
from example_sanity.report.schema import SHIPPED, document


def _json(view: View, form: str) -> Any:
    return json.loads(render(view, form))


def test_the_shipped_schema_is_current() -> None:
    assert SHIPPED.read_text("utf-8") == document(), (
        f"run: python -m example_sanity.report.schema > {SHIPPED}"
    )


@pytest.mark.parametrize("name", ["clean", "sample", "many"])
def test_the_json_report_is_valid_under_its_schema(name: str, request: pytest.FixtureRequest) -> None:
    schema = json.loads(document())
    jsonschema.Draft202012Validator.check_schema(schema)

    jsonschema.Draft202012Validator(schema).validate(_json(request.getfixturevalue(name), "json"))


@pytest.mark.parametrize(
    ("path", "value"),
    [(("version",), 2), (("findings", 0, "severity"), "fatal"), (("findings", 0, "line"), 0)],
)
def test_the_schema_refuses_what_is_wrong(sample: View, path: tuple[str | int, ...], value: object) -> None:
    data = _json(sample, "json")
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(json.loads(document())).validate(data)


def test_the_schema_allows_new_fields(sample: View) -> None:
    data = _json(sample, "json")
    data["findings"][0]["new"] = data["new"] = 1

    jsonschema.Draft202012Validator(json.loads(document())).validate(data)


def test_gitlab_needs_unique_fingerprints_and_known_severities(sample: View) -> None:
    issues = _json(sample, "gitlab")

    assert len({issue["fingerprint"] for issue in issues}) == len(issues) == 6
    assert {issue["severity"] for issue in issues} == {"major", "minor", "info"}
    assert all(not issue["location"]["path"].startswith(("/", "./")) for issue in issues)


def test_rdjson_columns_count_bytes(sample: View) -> None:
    (wide,) = (d for d in _json(sample, "rdjson")["diagnostics"] if d["code"]["value"] == "PLG001")

    assert wide["location"]["range"] == {"start": {"line": 3, "column": 10}, "end": {"line": 3, "column": 18}}


def test_rdjson_suggests_only_fixes_that_are_one_edit(sample: View) -> None:
    suggested = {d["code"]["value"] for d in _json(sample, "rdjson")["diagnostics"] if "suggestions" in d}

    assert suggested == {"ENV002"}


def _junit(view: View) -> dict[str, str]:
    """Outcome by test case."""
    root = ET.fromstring(render(view, "junit"))
    cases = root.findall("testsuite/testcase")
    assert root.get("tests") == str(len(cases))
    assert root.get("failures") == str(len(root.findall("testsuite/testcase/failure")))
    return {
        f"{case.get('classname')} {case.get('name')}": ",".join(child.tag for child in case) for case in cases
    }


def test_junit_passes_what_is_clean_and_what_only_warns(sample: View) -> None:
    outcome = _junit(sample)

    assert outcome["example-sanity.mesh examples/run_b_fsdp.sh"] == ""
    assert outcome["example-sanity.knobs examples/run_a_fsdp.sh"] == "system-out"
    assert outcome["example-sanity.mesh examples/run_a_fsdp.sh"] == "failure"


def test_junit_fails_from_the_threshold_on(sample: View) -> None:
    outcome = _junit(msgspec.structs.replace(sample, fail_on=Severity.WARNING))

    assert outcome["example-sanity.knobs examples/run_a_fsdp.sh"] == "failure"


def test_sarif_names_each_rule_once_and_points_at_it(sample: View) -> None:
    (run,) = _json(sample, "sarif")["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]

    assert rules == sorted(set(rules))
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert len(run["results"]) == 8
    assert [result["suppressions"][0]["kind"] for result in run["results"][6:]] == ["inSource", "external"]
    assert "suppressions" not in run["results"][0]
