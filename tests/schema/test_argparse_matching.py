"""Command lines read word by word: what argparse accepts is accepted, what it refuses is refused."""

from __future__ import annotations

import argparse
import contextlib
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_sanity.schema.argparse.matching import read_words
from example_sanity.schema.argparse.reading import read_table
from example_sanity.schema.argparse.table import Flag, FlagTable, Positional

_PROGRAM = """\
import argparse
def build():
    parser = argparse.ArgumentParser()
    parser.add_argument("--alpha", "-a")
    parser.add_argument("--beta", nargs="*")
    parser.add_argument("--gamma", nargs="+")
    parser.add_argument("--pair", nargs=2)
    parser.add_argument("--maybe", nargs="?")
    parser.add_argument("--switch", "-s", action="store_true")
    parser.add_argument("--swap", action="store_true")
    return parser
if __name__ == "__main__":
    build().parse_args()
"""
_WORDS = st.sampled_from(
    [
        "--alpha",
        "--beta",
        "--gamma",
        "--pair",
        "--maybe",
        "--switch",
        "--swap",
        "--alpha=1",
        "--pair=1",
        "--maybe=2",
        "--nope",
        "--nope=3",
        "--al",
        "--sw",
        "-a",
        "-a5",
        "-s",
        "1",
        "-1",
        "-1.5",
        "x",
        "y",
    ]
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[FlagTable, argparse.ArgumentParser]:
    folder: Path = tmp_path_factory.mktemp("program")
    (folder / "train.py").write_text(_PROGRAM)
    table = read_table(folder / "train.py", folder, [folder])
    assert table is not None
    names: dict[str, object] = {"__name__": "real"}
    exec(_PROGRAM, names)
    build = names["build"]
    assert callable(build)
    return table, build()


def _refused_by_argparse(parser: argparse.ArgumentParser, words: list[str]) -> bool:
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            parser.parse_args(words)
        except SystemExit:
            return True
    return False


def _refused(table: FlagTable, words: list[str]) -> bool:
    reading = read_words(words, table)
    return bool(reading.operands) or any(
        not use.flags or len(use.matches) > 1 or use.count < min(flag.least for flag in use.flags)
        for use in reading.uses
    )


@settings(max_examples=400, deadline=None)
@given(words=st.lists(_WORDS, max_size=6))
def test_the_reading_agrees_with_argparse(
    both: tuple[FlagTable, argparse.ArgumentParser], words: list[str]
) -> None:
    table, parser = both

    assert _refused(table, words) == _refused_by_argparse(parser, words)


def _table(**changes: object) -> FlagTable:
    flags = (Flag(("--a-b",)), Flag(("--rest",), nargs="..."), Flag(("--odd",), nargs="unknown"))
    return FlagTable(flags=flags, **changes)  # type: ignore[arg-type]


def test_remaining_words_belong_to_a_flag_that_takes_the_rest() -> None:
    reading = read_words(["--rest", "--a-b", "1", "--nope"], _table())

    assert [use.values for use in reading.uses] == [(1, 2, 3)]


def test_a_flag_of_unknown_arity_takes_what_follows() -> None:
    reading = read_words(["--odd", "1", "2", "--a-b", "3"], _table())

    assert [(use.name, use.count) for use in reading.uses] == [("--odd", 2), ("--a-b", 1)]


def test_underscores_and_dashes_are_the_same_in_a_loose_table() -> None:
    (use,) = read_words(["--a_b=1"], _table(loose=True)).uses

    assert (use.written, use.attached, bool(use.flags)) == ("--a_b", "1", True)


def test_words_behind_two_dashes_are_operands() -> None:
    reading = read_words(["--a-b", "1", "--", "--nope"], _table(positionals=(Positional("x", "*"),)))

    assert ([use.name for use in reading.uses], reading.operands) == (["--a-b"], [3])


def test_a_text_with_a_space_is_a_value_although_it_begins_with_a_dash() -> None:
    (use,) = read_words(["--a-b", "-x y"], _table()).uses

    assert use.values == (1,)
