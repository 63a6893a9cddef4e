"""Every rule shows itself: its bad examples give findings of it, its good ones give none, and explain prints both."""

from __future__ import annotations

import pytest

from example_sanity import checks
from example_sanity.core.rule import Example, Rule, iterate_rules
from example_sanity.testing import check_rule
from helpers import cli

RULES = [(f.name, rule) for f, rule in iterate_rules(checks.registry().families) if f.name != "system"]
BAD = [pytest.param(r, e, id=f"{r.code}-{i}") for _, r in RULES for i, e in enumerate(r.bad)]
GOOD = [pytest.param(r, e, id=f"{r.code}-{i}") for _, r in RULES for i, e in enumerate(r.good)]


@pytest.mark.parametrize(("family", "rule"), RULES, ids=[rule.code for _, rule in RULES])
def test_every_rule_declares_what_it_must(
    family: str, rule: type[Rule], capsys: pytest.CaptureFixture[str]
) -> None:
    assert rule.bad
    assert rule.good
    assert rule.summary[0].islower() or rule.summary.split()[0].isupper()
    code, out, _ = cli(capsys, "explain", rule.name)
    assert code == 0
    assert out.startswith(f"{rule.code} {rule.name}")
    assert family


@pytest.mark.parametrize(("rule", "example"), BAD)
def test_bad_examples_are_found(rule: type[Rule], example: Example) -> None:
    assert check_rule(rule, example.text, path=example.path, files=example.files)


@pytest.mark.parametrize(("rule", "example"), GOOD)
def test_good_examples_are_silent(rule: type[Rule], example: Example) -> None:
    assert check_rule(rule, example.text, path=example.path, files=example.files) == []
