"""Tiny data in the shape of GSM8K: word problems of one sum, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from example_sanity.core.errors import UsageError

SEED = 20260101
ROWS = 1024
_TEXTS = 256
_FORMAT = 1  # counted up when the rows change
_NAMES = ("Ada", "Ben", "Chi", "Dan", "Eva", "Finn")
_THINGS = ("apples", "books", "coins", "eggs", "pens", "stones")
_STORIES = (
    ("{name} has {a} {thing} and buys {b} more. How many {thing} does {name} have?", "{a} + {b} = {sum}"),
    ("{name} has {sum} {thing} and sells {b}. How many {thing} are left?", "{sum} - {b} = {a}"),
)
_SOURCE = "openai/gsm8k"

Row = dict[str, Any]


def rows(kind: Literal["sft", "rl"], split: str, count: int = ROWS) -> list[Row]:
    """Return ``count`` rows: ``messages`` for supervised training; prompt, reward model and label for reinforcement learning.

    The columns of the latter are those that verl's reward for GSM8K reads; ``label`` is the answer for slime.
    """
    drawn = random.Random(f"{SEED} {split}")
    make = _supervised if kind == "sft" else _rewarded
    return [make(*_problem(drawn), split, index) for index in range(count)]


def texts() -> list[str]:
    """Return the texts that a tokenizer for the data is trained on."""
    drawn = random.Random(SEED)
    return [text for _ in range(_TEXTS) for text in _problem(drawn)[:2]]


def location(folder: Path, kind: Literal["sft", "rl"]) -> Path:
    """Return where the rows of a kind lie or will lie."""
    return folder / f"{kind}-data-{_FORMAT}"


def write(folder: Path, kind: Literal["sft", "rl"], count: int = ROWS) -> tuple[Path, Path]:
    """Write ``train.parquet`` and ``test.parquet`` and return their paths. Raises UsageError where pyarrow is missing."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise UsageError("tiny data takes pyarrow: install example-sanity[smoke]") from error
    folder.mkdir(parents=True, exist_ok=True)
    for path, split in zip(paths(folder), ("train", "test"), strict=True):
        parquet.write_table(pyarrow.Table.from_pylist(rows(kind, split, count)), path)
    return paths(folder)


def paths(folder: Path) -> tuple[Path, Path]:
    """Return where the rows for training and those for validation lie."""
    return folder / "train.parquet", folder / "test.parquet"


def _problem(drawn: random.Random) -> tuple[str, str, str]:
    """Draw a question, its solution as GSM8K writes it, and the number that solves it."""
    a, b = drawn.randint(2, 20), drawn.randint(2, 20)
    story, solution = drawn.choice(_STORIES)
    words = {
        "a": a,
        "b": b,
        "sum": a + b,
        "name": drawn.choice(_NAMES),
        "thing": drawn.choice(_THINGS),
    }
    answer = solution.format(**words).rpartition("= ")[2]
    return story.format(**words), f"{solution.format(**words)}\n#### {answer}", answer


def _supervised(question: str, solution: str, answer: str, split: str, index: int) -> Row:
    return {
        "messages": _turns((("user", question), ("assistant", solution))),
        "question": question,
        "answer": solution,
    }


def _rewarded(question: str, solution: str, answer: str, split: str, index: int) -> Row:
    return {
        "data_source": _SOURCE,
        "prompt": _turns((("user", question),)),
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": answer},
        "extra_info": {"split": split, "index": index, "question": question, "answer": solution},
        "label": answer,
    }


def _turns(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in pairs]
