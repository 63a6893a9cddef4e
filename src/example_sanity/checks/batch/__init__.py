"""BAT: the batch chain: prompts, responses, mini and micro batches, tokens, and the ranks that they divide among."""

from __future__ import annotations

from example_sanity.core.rule import NoOptions

OPTIONS = NoOptions
