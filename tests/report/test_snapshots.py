"""Every format by its whole text, on a report with odd characters and on a clean one."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from example_sanity.report import FORMATS, render
from example_sanity.report.html import _ASSETS
from example_sanity.report.model import View


def _without_assets(text: str) -> str:
    """The page with its style and script left out, which have no words of the report."""
    for name in ("report.css", "report.js"):
        asset = (_ASSETS / name).read_text("utf-8").strip()
        assert asset in text
        text = text.replace(asset, f"/* {name} */")
    return re.sub(r"'sha256-[^']+'", "'sha256-...'", text)


@pytest.mark.parametrize("form", FORMATS)
def test_a_clean_run(form: str, clean: View, snapshot: Callable[[str, str], None]) -> None:
    text = render(clean, form)

    snapshot(f"clean.{form}.txt", _without_assets(text) if form == "html" else text)


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_with_everything(form: str, sample: View, snapshot: Callable[[str, str], None]) -> None:
    text = render(sample, form)

    snapshot(f"sample.{form}.txt", _without_assets(text) if form == "html" else text)


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_lets_a_control_character_through(form: str, sample: View) -> None:
    text = render(sample, form)

    assert text.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", text)


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_is_the_same_every_time(form: str, sample: View) -> None:
    assert render(sample, form) == render(sample, form)
