"""Options in front of a program, and the tables that say how to read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.launch.launchers import (
    LAUNCHER_MODULES,
    LAUNCHERS,
    PYTHON_WRAPPERS,
    SUBCOMMANDS,
    WRAPPER_SUBCOMMANDS,
    WRAPPERS,
    Grammar,
)
from example_sanity.launch.options import is_option, read_options

GRAMMAR = Grammar(
    values=frozenset({"number", "name"}), switches=frozenset({"quiet"}), short={"n": "number", "q": "quiet"}
)
LENIENT = Grammar(switches=frozenset({"quiet"}), arity={"pair": 2}, unknown_takes_value=True)
BUNDLED = Grammar(values=frozenset({"number"}), short={"n": "number", "q": "quiet"}, bundled=True)
SINGLE = Grammar(values=frozenset({"np"}), single_dash_long=True)
ALL = {**LAUNCHERS, **WRAPPERS, **PYTHON_WRAPPERS}


@pytest.mark.parametrize(
    ("grammar", "line", "values", "end"),
    [
        (GRAMMAR, "", {}, 0),
        (GRAMMAR, "prog --number 1", {}, 0),
        (GRAMMAR, "- --number 1", {}, 0),
        (GRAMMAR, "--number 1 prog", {"number": "1"}, 2),
        (GRAMMAR, "--number=1 --quiet prog", {"number": "1", "quiet": ""}, 2),
        (GRAMMAR, "-n 1 -q prog", {"number": "1", "quiet": ""}, 3),
        (GRAMMAR, "--number -1 prog", {"number": "-1"}, 2),
        (GRAMMAR, "--unknown prog", {"unknown": ""}, 1),
        (GRAMMAR, "--quiet -- --name x", {"quiet": ""}, 2),
        (GRAMMAR, "--number", {"number": ""}, 1),
        (LENIENT, "--unknown 1 --quiet prog", {"unknown": "1", "quiet": ""}, 3),
        (LENIENT, "--unknown --quiet prog", {"unknown": "", "quiet": ""}, 2),
        (LENIENT, "--pair a b prog", {"pair": "a b"}, 3),
        (LENIENT, "--two-words=1 prog", {"two_words": "1"}, 1),
        (BUNDLED, "-n8 -n=9 -q prog", {"number": "9", "quiet": ""}, 3),
        (BUNDLED, "-qx prog", {"quiet": ""}, 1),
        (SINGLE, "-np 8 prog", {"np": "8"}, 2),
    ],
)
def test_reading(grammar: Grammar, line: str, values: dict[str, str], end: int) -> None:
    found = read_options(line.split(), grammar)
    assert (found.values, found.end) == (values, end)


def test_abbreviations_must_be_unique() -> None:
    grammar = Grammar(values=frozenset({"nnodes", "node_rank"}), abbreviates=True)
    assert read_options(["--nn", "2", "x"], grammar).values == {"nnodes": "2"}
    assert read_options(["--n", "2", "x"], grammar).values == {"n": ""}


def test_stopping_at_a_word() -> None:
    assert read_options(["--quiet", "-m", "a"], GRAMMAR, stop_at=("-m",)).end == 1


@pytest.mark.parametrize("word", ["--a", "-a", "-1a", "--"])
def test_options(word: str) -> None:
    assert is_option(word)


@pytest.mark.parametrize("word", ["a", "-", "-1", "-1.5", "-.5", "-1e-6", "", "1"])
def test_values(word: str) -> None:
    assert not is_option(word)


@given(st.lists(st.text("-a=n1", max_size=4), max_size=6))
def test_the_end_is_in_range(words: list[str]) -> None:
    for grammar in ALL.values():
        assert 0 <= read_options(words, grammar).end <= len(words)


@pytest.mark.parametrize("name", sorted(ALL))
def test_tables_do_not_contradict_themselves(name: str) -> None:
    grammar = ALL[name]
    assert not grammar.values & grammar.switches
    assert all("-" not in option for option in grammar.values | grammar.switches)
    if not grammar.unknown_takes_value:
        known = grammar.values | grammar.switches | grammar.arity.keys()
        assert set(grammar.short.values()) <= known


def test_tables_name_each_other() -> None:
    assert set(LAUNCHER_MODULES.values()) <= LAUNCHERS.keys()
    assert LAUNCHERS.keys() >= SUBCOMMANDS.keys()
    assert WRAPPERS.keys() >= WRAPPER_SUBCOMMANDS.keys()
