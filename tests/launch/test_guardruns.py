"""The guard in batches says what the script says one by one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_sanity.launch import guardruns
from example_sanity.launch.evaluator import GuardRun, evaluate, guard_runs
from example_sanity.launch.scenario import Scenario
from example_sanity.launch.syntax import parse

GUARD = """#!/usr/bin/env bash
set -xeuo pipefail
NGPU=${NGPU:-8}
TP=${TP:-1}
CP=${CP:-1}
NAME=${NAME:-"a[1]"}
if (( NGPU % (TP * CP) != 0 )); then
    echo "wrong: $NGPU" >&2
    exit 1
fi
[[ $NAME == *stop* ]] && exit 3
DP=$((NGPU / (TP * CP)))
echo "dp=${DP} name=${NAME}"
python3 train.py dp=$DP
"""
SCRIPT = parse("examples/run.sh", GUARD.encode())
CUT = GUARD.encode().index(b"python3 train.py")


def runs(*assignments: dict[str, str], scenario: Scenario | None = None) -> list[GuardRun | None]:
    return guard_runs(SCRIPT, CUT, assignments, ["DP", "NOT_SET"], None, scenario or Scenario())


def test_accepted_and_rejected() -> None:
    assert runs({}, {"TP": "3"}, {"TP": "4"}) == [
        GuardRun(True, {"DP": "8"}, "dp=8 name=a[1]\n"),
        GuardRun(False, {}, ""),
        GuardRun(True, {"DP": "2"}, "dp=2 name=a[1]\n"),
    ]


def test_no_assignment_gives_no_run() -> None:
    assert runs() == []


def test_the_other_variables_come_from_the_scenario() -> None:
    scenario = Scenario(environment={"NGPU": "6"}, placeholders={"NAME": "stop"})
    assert runs({"TP": "3"}, {"NAME": "go on"}, scenario=scenario) == [
        GuardRun(False, {}, ""),
        GuardRun(True, {"DP": "6"}, "dp=6 name=go on\n"),
    ]


def test_values_are_data_and_not_shell() -> None:
    run = runs({"NAME": "'; exit 0; $(python x) `y` \\ \""})[0]
    assert run is not None
    assert run.accepted
    assert "$(python x)" in run.stdout


def test_one_run_does_not_see_another() -> None:
    script = parse("run.sh", b"COUNT=$((${COUNT:-0} + 1))\nexport LEAK=1\ncd /tmp\n")
    found = guard_runs(script, len(script.data), [{}] * 250, ["COUNT"], None, Scenario())
    assert {run.values["COUNT"] if run else None for run in found} == {"1"}


@pytest.mark.parametrize("size", [1, 7, 99, 100, 101, 230])
def test_results_run_parallel_to_the_assignments(size: int) -> None:
    given = [{"TP": str(number % 9 + 1)} for number in range(size)]
    found = runs(*given)
    assert [run is not None and run.accepted for run in found] == [8 % (n % 9 + 1) == 0 for n in range(size)]


def test_a_limit_is_no_rejection() -> None:
    script = parse("run.sh", b'while [ "${N:-1}" = 5 ]; do :; done\n')
    given = [{"N": str(number)} for number in range(8)]
    found = guard_runs(script, len(script.data), given, [], None, Scenario())
    assert [run and run.accepted for run in found] == [True] * 5 + [None] + [True] * 2


def test_many_steps_are_no_limit() -> None:
    script = parse("run.sh", b"for i in {1..300}; do x=$i; done\n")
    found = guard_runs(script, len(script.data), [{}] * 60, ["x"], None, Scenario())
    assert [run and run.values for run in found] == [{"x": "300"}] * 60


@pytest.mark.parametrize("text", [b"if true; then\n", b'echo "a\n', b"\xff\n", b"a\0b\n"])
def test_text_that_does_not_parse_gives_no_verdict(text: bytes) -> None:
    assert guard_runs(parse("run.sh", text), len(text), [{}, {}], [], None, Scenario()) == [None, None]


def test_the_script_sees_its_own_path_and_arguments() -> None:
    script = parse("examples/run.sh", b'HERE=$(cd "$(dirname "$0")" && pwd)\nALL="$*"\n')
    scenario = Scenario(arguments=("a", "b c"))
    run = guard_runs(script, len(script.data), [{}], ["HERE", "ALL"], None, scenario)[0]
    assert run is not None
    assert run.values == {"HERE": "/examples", "ALL": "a b c"}


sizes = st.integers(min_value=-2, max_value=40).map(str)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.fixed_dictionaries({"NGPU": sizes, "TP": sizes, "CP": sizes}), max_size=6))
def test_agrees_with_one_by_one_evaluation(assignments: list[dict[str, str]]) -> None:
    for assignment, run in zip(assignments, runs(*assignments), strict=True):
        alone = evaluate(SCRIPT, Scenario(environment=assignment))
        assert run is not None
        assert run.accepted == bool(alone.commands)
        if run.accepted:
            assert run.values["DP"] == alone.variables["DP"]
            assert run.stdout == alone.stdout


def test_what_the_guard_does_not_see_is_left_out_without_a_difference() -> None:
    text = (
        "# a comment\nA=${A:-1}\nB=${B:-$A}\nUSED=${USED:-4}\nSIDE=${SIDE:-$(touch /x)}\n"
        'for name in USED; do [[ "${!name}" == 4 ]] || exit 1; done\nCAUGHT=7\n'
    )
    script = parse("run.sh", text.encode())

    kept = guardruns._needed(script, len(script.data), ["CAUGHT"]).decode()

    assert [line.partition("=")[0] for line in kept.splitlines() if "=" in line[:8]] == [
        "USED",
        "SIDE",
        "CAUGHT",
    ]
    found = guard_runs(script, len(script.data), [{}, {"USED": "5"}], ["CAUGHT", "A"], None, Scenario())
    assert [(run.accepted, run.values) for run in found if run] == [
        (True, {"CAUGHT": "7", "A": "1"}),
        (False, {}),
    ]
