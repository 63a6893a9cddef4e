"""The page on smoke runs names every kind of cause, every option and every verdict."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from example_sanity.smoke.cause_table import CAUSES
from example_sanity.smoke.report import FORMATS
from example_sanity.smoke.result import Verdict

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/advance/gpu_smoke.rst").read_text("utf-8")
SOURCE = "\n".join(path.read_text("utf-8") for path in (ROOT / "src/example_sanity/smoke").glob("*.py"))
# Kinds that are no rows of the table stand in the code, as the first word of an evidence or of a refusal to start.
OTHERS = set(re.findall(r'(?:Evidence|CannotStart)\(\s*"([a-z-]+)"', SOURCE)) | {"exception"}


@pytest.mark.parametrize("kind", sorted({cause.kind for cause in CAUSES} | OTHERS))
def test_every_cause_is_named(kind: str) -> None:
    assert f"``{kind}``" in PAGE


def test_the_other_causes_are_found() -> None:
    assert {"hang", "no-step-line", "too-few-steps", "exit-status", "no-cluster", "not-scheduled"} <= OTHERS


def test_every_verdict_and_format_is_named() -> None:
    assert all(f"   * - {verdict.replace('-', ' ')}\n" in PAGE for verdict in get_args(Verdict))
    assert all(f"``{form}``" in PAGE for form in FORMATS)
