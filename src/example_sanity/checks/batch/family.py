"""The rules of the family batch, in the order of their codes."""

from __future__ import annotations

from example_sanity.checks.batch.derived import WrongDerivedBatch
from example_sanity.checks.batch.rules import CONSTRAINED

RULES = (*CONSTRAINED, WrongDerivedBatch)
