"""The page on formats names every format, every input of the action and every field of the JSON report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from example_sanity.report import FORMATS
from example_sanity.report.json import Document, FindingRow, Summary

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs/formats.md").read_text("utf-8")


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_a_section_and_a_row(form: str) -> None:
    assert f"\n## {form}\n" in PAGE
    assert f"| [`{form}`](#{form}) |" in PAGE


def test_the_inputs_of_the_action_are_listed() -> None:
    table = PAGE.partition("| input |")[2].partition("\n\n")[0]
    first_cells = re.findall(r"^\| (.+?) \|", table, re.MULTILINE)
    listed = set(re.findall("`([a-z-]+)`", " ".join(first_cells)))

    assert listed == set(yaml.safe_load((REPOSITORY / "action.yml").read_text("utf-8"))["inputs"])


@pytest.mark.parametrize("kind", [Document, FindingRow, Summary])
def test_the_fields_of_the_json_report_are_listed(kind: type[Document]) -> None:
    block = PAGE.partition("## json")[2].partition("## github")[0]

    assert [name for name in kind.__struct_fields__ if not re.search(rf"\b{name}\b", block)] == []
