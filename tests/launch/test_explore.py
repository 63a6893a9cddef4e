"""Scenarios of a script, and the words that depend on made-up values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from example_sanity.launch import explore
from example_sanity.launch.command import Command
from example_sanity.launch.evaluator import evaluate, words
from example_sanity.launch.explore import changed, launches
from example_sanity.launch.scenario import Scenario
from example_sanity.launch.syntax import Script, parse
from helpers import Write


def explored(text: str, **environment: str) -> list[tuple[str, list[list[str]]]]:
    found = launches(parse("run.sh", text.encode()), None, environment)
    return [(launch.scenario.name, [list(command.argv) for command in launch.commands]) for launch in found]


def only(text: str) -> Command:
    launch = launches(parse("run.sh", text.encode()), None)[0]
    assert launch.failure is None
    return launch.commands[-1]


def unstable(text: str) -> list[str]:
    command = only(text)
    return [command.argv[index] for index in sorted(command.unstable)]


def test_nothing_is_unstable_without_placeholders() -> None:
    assert unstable("TP=${TP:-2}\npython train.py --tp $TP $(nvidia-smi -L | wc -l)\n") == []


def test_what_depends_on_the_day_or_the_machine_is_unstable() -> None:
    assert unstable("python train.py 8 $(date +%Y) $(nproc)\n") == ["2026", "64"]


def test_each_alternative_is_a_scenario_of_its_own() -> None:
    text = 'V=${V:-a}\ncase "$V" in a) N=1 ;; b) N=2 ;; *) exit 1 ;; esac\npython x $N\n'
    assert explored(text) == [("default", [["python", "x", "1"]]), ("V=b", [["python", "x", "2"]])]


def test_a_given_environment_leaves_out_the_scenarios_that_contradict_it() -> None:
    text = 'V=${V:-a}\ncase "$V" in a) N=1 ;; b) N=2 ;; *) exit 1 ;; esac\npython x $N $W\n'
    assert explored(text, V="b", W="w")[-1] == ("V=b", [["python", "x", "2", "w"]])
    assert all(commands == [["python", "x", "2", "w"]] for _, commands in explored(text, V="b", W="w"))


def test_words_that_hold_a_placeholder_are_unstable() -> None:
    text = ': "${DATA:?}"\nset -u\npython x d=$DATA n=$((NNODES * 8)) --fixed $1\n'
    assert sorted(only(text).unstable) == [2, 3, 5]


def test_a_variable_found_unbound_at_run_time_becomes_a_placeholder() -> None:
    text = "set -u\nname=HIDDEN_SIZE\npython x ${!name} y\n"
    command = only(text)
    assert command.argv[:2] == ("python", "x")
    assert command.argv[-1] == "y"
    assert command.unstable == frozenset({2})


def test_words_from_commands_of_unknown_output_are_unstable() -> None:
    assert unstable("X=$(python -c 'print(1)')\npython x a=$X b=1\n") == ["a="]
    assert unstable("python x $(python -c 'print(1)') b\n") == ["b"]


def test_words_that_depend_on_the_day_or_the_machine_are_unstable() -> None:
    text = "python x n=$(nproc) $(hostname) a=$(hostname -I) run_$(date +%m%d_%H%M%S) end\n"
    assert sorted(only(text).unstable) == [2, 3, 4, 5]


def test_random_numbers_are_unstable() -> None:
    assert unstable("PORT=$((20000 + RANDOM % 100))\npython x --port=$PORT y\n") == [
        only("PORT=$((20000 + RANDOM % 100))\npython x --port=$PORT y\n").argv[2]
    ]


def test_lots_are_unstable() -> None:
    assert unstable("python x --port=$(shuf -i 20000-30000 -n 1) y\n") == ["--port=20000"]


def test_all_words_are_unstable_where_no_other_value_goes_the_same_way() -> None:
    text = ': "${KIND:?}"\n[[ $KIND == placeholder-KIND ]] || exit 1\npython x y\n'
    assert unstable(text) == ["python", "x", "y"]


def test_changed_words_of_lists_of_different_length() -> None:
    assert changed(["a", "b", "c"], ["a", "x", "c"]) == {1}
    assert changed(["a", "b", "c"], ["a", "b", "n", "c"]) == {2}
    assert changed(["a", "b", "c"], ["a", "c"]) == {1}
    assert changed(["a"], ["a", "b"]) == {0}
    assert changed([], []) == frozenset()


def test_an_unbound_guard_does_not_loop_for_ever() -> None:
    found = launches(parse("run.sh", b"set -u\nunset A\necho $A\npython x\n"), None)
    assert [launch.status for launch in found] == [1]


@pytest.mark.parametrize(
    "text",
    [
        "python train.py $((8 * 2)) $(basename a.sh)\n",
        "D=$(nvidia-smi -L | wc -l)\npython train.py $D\n",
        "python train.py 2>&1 | tee log\n",
        "python train.py\necho $(date)\n",
        "X=$(tput cols) python train.py\n",
        "TOTAL_EPOCHS=3 KEEP_SECONDS_AGO=1\npython train.py $TOTAL_EPOCHS $(basename a.sh)\n",
    ],
)
def test_what_is_known_is_evaluated_once(text: str, evaluated: list[str]) -> None:
    assert unstable(text) == []
    assert set(evaluated) == {""}


@pytest.mark.parametrize(
    "text",
    [
        "python train.py $(date +%s)\n",
        "pip install x\npython train.py $(true)\n",
        "python train.py $(shuf -n 1 names)\n",
        "f() { echo $(hostname); }\nX=`f`\npython train.py $X\n",
        "source lib.sh\npython train.py $(true)\n",
        "python train.py $SECONDS $(true)\n",
    ],
)
def test_what_may_differ_is_evaluated_twice(text: str, evaluated: list[str], write: Write) -> None:
    root = write({"run.sh": text, "lib.sh": "X=$RANDOM\n", "names": "a\nb\n"})

    launches(parse("run.sh", text.encode()), root)

    assert evaluated == ["", "7\n"]


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What commands of unknown output print, once for each evaluation."""
    seen: list[str] = []

    def noting(
        run: Callable[..., object],
        script: Script,
        scenario: Scenario,
        root: Path | None,
        *engine: str,
        unknown: str = "",
    ) -> object:
        seen.append(unknown)
        return run(script, scenario, root, unknown=unknown)

    monkeypatch.setattr(explore, "evaluate", partial(noting, evaluate))
    monkeypatch.setattr(explore, "words", partial(noting, words))
    return seen
