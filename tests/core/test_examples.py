"""Every rule shows itself: its bad examples give findings of it, its good ones give none, and explain prints both."""

from __future__ import annotations

import pytest

from example_sanity import checks, session
from example_sanity.core.rule import Example, Rule, iterate_rules
from helpers import Write, cli

RULES = [(f.name, rule) for f, rule in iterate_rules(checks.registry().families) if f.name != "system"]
BAD = [pytest.param(f, r, e, id=f"{r.code}-{i}") for f, r in RULES for i, e in enumerate(r.bad)]
GOOD = [pytest.param(f, r, e, id=f"{r.code}-{i}") for f, r in RULES for i, e in enumerate(r.good)]


def _codes(write: Write, family: str, example: Example) -> set[str]:
    root = write({**example.files, example.path: example.text})
    opened = session.open_run((), root=root)
    # A rule on suppressions needs the findings of the others.
    families = opened.registry.families if family == "ignores" else [opened.registry.family(family)]
    return {finding.code for finding in opened.check(families).findings}


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


@pytest.mark.parametrize(("family", "rule", "example"), BAD)
def test_bad_examples_are_found(write: Write, family: str, rule: type[Rule], example: Example) -> None:
    assert rule.code in _codes(write, family, example)


@pytest.mark.parametrize(("family", "rule", "example"), GOOD)
def test_good_examples_are_silent(write: Write, family: str, rule: type[Rule], example: Example) -> None:
    assert rule.code not in _codes(write, family, example)
