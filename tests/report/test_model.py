"""The words that several formats share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core.finding import Finding, Fix, Severity, Span
from example_sanity.report.model import View, counted, fix_title, one_line, printable, rule_url, tally


def test_ordinary_text_stays_as_it_is() -> None:
    assert printable("run_模型 ${TP:-8}\\n") == "run_模型 ${TP:-8}\\n"


def test_control_characters_become_escapes() -> None:
    assert printable("a\nb\x1b[31m\u202ec\x7f") == "a\\nb\\x1b[31m\\u202ec\\x7f"


@given(st.text())
def test_any_text_becomes_one_printable_line(text: str) -> None:
    assert all(char.isprintable() or "\ud800" <= char <= "\udfff" for char in printable(text))
    assert len(f"x{one_line(text)}x".splitlines()) == 1


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (1, "error", "1 error"),
        (0, "error", "0 errors"),
        (2, "illegal mesh", "2 illegal meshes"),
        (3, "configuration entry", "3 configuration entries"),
    ],
)
def test_counted(number: int, noun: str, words: str) -> None:
    assert counted(number, noun) == words


def test_tally_names_what_there_is() -> None:
    def finding(severity: Severity) -> Finding:
        return Finding("X001", "x", "x", "x", Span(), severity)

    assert tally([]) == ""
    assert (
        tally([finding(Severity.INFO), finding(Severity.ERROR), finding(Severity.ERROR)])
        == "2 errors, 1 info"
    )


def test_a_fix_says_when_it_is_unsafe() -> None:
    assert fix_title(Fix("drop it", ())) == "fix: drop it"
    assert fix_title(Fix("drop\nit", (), safe=False)) == "fix (unsafe): drop it"


def test_only_our_own_rules_are_linked(sample: View) -> None:
    assert rule_url(Finding("MSH001", "dense-mesh", "x", "x"), sample).endswith(
        "/rules.html#msh001-dense-mesh"
    )
    assert rule_url(Finding("PLG001", "plugin-rule", "x", "x"), sample) == ""
    assert rule_url(Finding("GONE001", "gone", "x", "x"), sample) == ""
