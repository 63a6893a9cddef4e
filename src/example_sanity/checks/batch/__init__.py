"""BAT: the batch chain: prompts, responses, mini and micro batches, tokens, and the ranks that they divide among."""

from __future__ import annotations

from example_sanity.checks.batch.derived import WrongDerivedBatch
from example_sanity.checks.batch.rules import CONSTRAINED
from example_sanity.core.rule import NoOptions

RULES = (*CONSTRAINED, WrongDerivedBatch)
OPTIONS = NoOptions
__all__ = ["OPTIONS", "RULES"]
