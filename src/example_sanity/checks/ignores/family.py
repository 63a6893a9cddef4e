"""The rules of the family ignores, in the order of their codes."""

from __future__ import annotations

from example_sanity.checks.ignores import baseline, rules, suppressions

RULES = (*rules.RULES, *suppressions.RULES, *baseline.RULES)
