"""Tiny data: the rows that trainers read, the same each time, and what is said where pyarrow is missing."""

from __future__ import annotations

import builtins
import re
from pathlib import Path
from typing import Any

import pytest

from example_sanity.core.errors import UsageError
from example_sanity.smoke import data
from example_sanity.smoke.trainers.verl import PROMPT


def test_rows_for_supervised_training_are_conversations() -> None:
    row = data.rows("sft", "train", 1)[0]

    assert [turn["role"] for turn in row["messages"]] == ["user", "assistant"]
    assert row["messages"][1]["content"] == row["answer"]


def test_rows_for_reinforcement_learning_have_what_the_reward_reads() -> None:
    row = data.rows("rl", "test", 2)[1]

    assert set(row) == {"data_source", "prompt", "ability", "reward_model", "extra_info", "label"}
    assert (row["data_source"], row["ability"]) == ("openai/gsm8k", "math")
    assert row["reward_model"] == {"style": "rule", "ground_truth": row["label"]}
    assert (row["extra_info"]["split"], row["extra_info"]["index"]) == ("test", 1)


def test_every_answer_is_the_sum_that_it_shows() -> None:
    for row in data.rows("rl", "train"):
        shown = re.fullmatch(r"(\d+) ([+-]) (\d+) = (\d+)\n#### (\d+)", row["extra_info"]["answer"])
        assert shown is not None
        left, right = int(shown[1]), int(shown[3])
        assert shown[4] == shown[5] == row["label"] == str(left + right if shown[2] == "+" else left - right)


def test_rows_are_the_same_each_time_and_other_in_each_split() -> None:
    assert data.rows("sft", "train") == data.rows("sft", "train")
    assert data.rows("sft", "train") != data.rows("sft", "test")
    assert data.texts() == data.texts()


def test_prompts_are_short_even_byte_by_byte() -> None:
    # The template adds some twenty characters; a tokenizer that knew no word of them would still stay below.
    longest = max(len(row["prompt"][0]["content"]) for row in data.rows("rl", "train"))

    assert longest + 25 <= PROMPT


def test_files_hold_the_rows(tmp_path: Path) -> None:
    from pyarrow import parquet

    train, test = data.write(tmp_path / "new" / "rl", "rl", 8)

    assert parquet.read_table(train).to_pylist() == data.rows("rl", "train", 8)
    assert parquet.read_table(test).num_rows == 8


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match=r"install example-sanity\[smoke\]"):
        data.write(tmp_path, "sft")
