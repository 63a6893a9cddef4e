"""Every format by its whole text, and what other programs read by their rules."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import jsonschema
import msgspec
import pytest

from example_sanity.report import html as lint
from example_sanity.smoke.report import FORMATS, render
from example_sanity.smoke.report.json import SHIPPED, schema
from helpers import cli
from smoke.runs import FAILED, NOT_STARTED, PASSED

RUNS = [PASSED, FAILED, NOT_STARTED]
STYLE = (Path(lint.__file__).parent / "assets/report.css").read_text("utf-8").strip()


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "json"])
def test_the_whole_text(form: str, snapshot: Callable[[str, str], None]) -> None:
    snapshot(f"runs.{form}.txt", render(RUNS, form).replace(STYLE, "/* report.css */"))


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_lets_markup_or_control_characters_through(form: str) -> None:
    assert FAILED.cause is not None
    cause = msgspec.structs.replace(FAILED.cause, line="\x1b[31m<script>alert(1)</script>\x00")
    text = render([msgspec.structs.replace(FAILED, cause=cause)], form)

    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", text)
    assert form in ("text", "json") or "<script" not in text


def test_only_the_text_has_colours() -> None:
    assert "\x1b[" in render(RUNS, "text", colour=True)


def test_the_json_fits_its_schema_and_the_shipped_one_is_current() -> None:
    jsonschema.validate(json.loads(render(RUNS, "json")), json.loads(schema()))
    assert SHIPPED.read_text("utf-8") == schema(), f"run: example-sanity schema smoke > {SHIPPED}"


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(capsys, "schema", "smoke") == (0, schema(), "")


def test_junit_tells_failures_from_errors() -> None:
    suites = ET.fromstring(render(RUNS, "junit"))
    cases = list(suites.iter("testcase"))

    assert {name: suites.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    assert [[child.tag for child in case][1:] for case in cases] == [[], ["failure"], ["error"]]


def test_the_page_has_the_end_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("first\n" + "x\n" * 300 + "<last>\n")
    page = render([msgspec.structs.replace(PASSED, log=log)], "html")

    assert "&lt;last&gt;</pre>" in page
    assert "first\n" not in page
