"""The registry: what codes, names and families stand for, and what clashes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from example_sanity import checks
from example_sanity.checks import Builtin
from example_sanity.core.errors import UsageError
from example_sanity.core.registry import Registry, hookimpl
from example_sanity.core.rule import Contents, Family, Rule, Subject, iterate_rules


def test_words_resolve_to_codes() -> None:
    registry = checks.registry()

    assert {"NAM001"} == registry.resolve("NAM001", "x")
    assert {"NAM001"} == registry.resolve("nam001", "x")
    assert {"NAM001"} == registry.resolve("script-name-shape", "x")
    assert registry.resolve("naming", "x") == registry.resolve("NAM", "x") >= {"NAM001", "NAM004"}
    with pytest.raises(UsageError, match=r"x: unknown rule 'namming' \(did you mean 'naming'\?\)"):
        registry.resolve("namming", "x")


def test_codes_and_names_are_unique_and_well_formed() -> None:
    rules = [(family, rule) for family, rule in iterate_rules(checks.registry().families)]
    labels = [label for _, rule in rules for label in (rule.code, rule.name)]

    assert len(set(labels)) == len(labels)
    for family, rule in rules:
        # shellcheck's own codes stay what everybody knows them as.
        assert rule.code.startswith((family.prefix, "SC"))
        assert len(rule.code) == 6 or rule.code.startswith("SC")
        assert rule.name == rule.name.lower()
        assert "_" not in rule.name


def test_a_family_declares_the_subjects_of_its_rules() -> None:
    """What is declared decides whether the rules are imported at all."""
    for family in checks.registry().families:
        assert family.subjects == {rule.subject for rule in family.rules}, family.name


def test_the_rules_on_a_subject_are_those_of_all_families() -> None:
    registry = checks.registry()

    assert registry.rules_on(Subject.LAUNCH) == [
        rule for _, rule in iterate_rules(registry.families) if rule.subject is Subject.LAUNCH
    ]


class Twice(Rule):
    """A rule with a code that is taken."""

    code = "NAM001"
    name = "another-name"
    summary = "taken"
    subject = Subject.PROJECT


class Plugin:
    @hookimpl
    def checks_rules(self) -> Sequence[Family]:
        return [
            Family("mine", "NAM", "mine", lambda: Contents((Twice,), msgspec.defstruct("MineOptions", [])))
        ]


def test_a_code_that_is_taken_is_an_error_that_names_both_families() -> None:
    registry = Registry([Builtin(), Plugin()], discover=False)

    with pytest.raises(UsageError, match="NAM001 is declared twice: by family naming and by mine"):
        _ = registry.rules
