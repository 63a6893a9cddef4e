"""Guards in functions, with and without arguments, and conditions that ask a function."""

from __future__ import annotations

import json

import pytest

from helpers import Write, brief, cli, report
from mesh.launchers import KNOBS, LAUNCH, PATH

EXACT = "NGPU % (TP * CP * PP) != 0 || NGPU % (ETP * EP * PP) != 0"
WRONG = EXACT.replace("TP * CP", "TP * EP", 1)
ARGUMENTS = "$NGPU $TP $CP $PP $EP $ETP"
_NAMES = {"NGPU": "$1", "ETP": "${6}", "TP": "$2", "CP": "$3", "PP": "$4", "EP": "$5"}
STOP = '    echo "invalid mesh" >&2\n    exit 1\n'


def _positional(condition: str) -> str:
    for name, parameter in _NAMES.items():
        condition = condition.replace(name, parameter)
    return condition


SHAPES = {
    "function": "check() {{\n    if (( {0} )); then\n    {stop}    fi\n}}\ncheck\n",
    "arguments": "check() {{\n    if (( {1} )); then\n    {stop}    fi\n}}\ncheck {arguments}\n",
    "locals": (
        "check() {{\n    local world=$1 a=$2 b=$3 c=$4 d=$5 e=$6\n    if (( {2} )); then\n    {stop}    fi\n}}\n"
        "check {arguments}\n"
    ),
    "list": "check() {{\n    (( {1} )) && {{ echo no; exit 1; }}\n    return 0\n}}\ncheck {arguments}\n",
    "another function": (
        'inner() {{\n    if (( {1} )); then\n    {stop}    fi\n}}\nouter() {{\n    inner "$@"\n}}\nouter {arguments}\n'
    ),
    "if valid": "valid() {{\n    (( !({1}) ))\n}}\nif valid {arguments}; then\n    echo fine\nelse\n{stop}fi\n",
    "if ! valid": "valid() {{\n    (( !({1}) ))\n}}\nif ! valid {arguments}; then\n{stop}fi\n",
    "valid or exit": "valid() {{\n    (( !({1}) ))\n}}\nvalid {arguments} || exit 1\n",
    "return": (
        "valid() {{\n    if (( {1} )); then\n        return 1\n    fi\n    return 0\n}}\n"
        "if ! valid {arguments}; then\n{stop}fi\n"
    ),
    "else": "if (( !({0}) )); then\n    echo fine\nelse\n{stop}fi\n",
}


def _guard(shape: str, condition: str) -> str:
    local = condition
    for name, other in zip(_NAMES, ("world", "e", "a", "b", "c", "d"), strict=True):
        local = local.replace(name, other)
    return SHAPES[shape].format(condition, _positional(condition), local, stop=STOP, arguments=ARGUMENTS)


def _found(write: Write, text: str) -> list[str]:
    return [item.rpartition(" ")[2] for item in brief(report(write({PATH: text}), "mesh").findings)]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_exact_guard_is_silent(write: Write, shape: str) -> None:
    assert _found(write, KNOBS + _guard(shape, EXACT) + LAUNCH) == []


@pytest.mark.parametrize("shape", SHAPES)
def test_a_wrong_guard_is_unsound_and_strict(write: Write, shape: str) -> None:
    assert _found(write, KNOBS + _guard(shape, WRONG) + LAUNCH) == ["MSH003", "MSH004"]


NEED = "need() {\n    if (( $1 % $2 != 0 )); then\n" + STOP + "    fi\n}\n"


@pytest.mark.parametrize(
    ("dense", "found"),
    [("TP * CP * PP", []), ("TP * EP * PP", ["MSH003", "MSH004"]), ("TP * CP * PP * 2", ["MSH004"])],
)
def test_a_function_that_is_called_for_each_product(write: Write, dense: str, found: list[str]) -> None:
    calls = f"need $((2 * NGPU)) $((2 * {dense}))\nneed $NGPU $((ETP * EP * PP))\n"
    if dense.endswith("2"):
        calls = f"need $NGPU $(({dense}))\nneed $NGPU $((ETP * EP * PP))\n"
    knobs = KNOBS.replace("NNODES:-1", "NNODES:-2").replace("EP:-8", "EP:-4")

    assert _found(write, knobs + NEED + calls + LAUNCH) == found


@pytest.mark.parametrize(
    "text",
    [
        KNOBS + SHAPES["function"].format(WRONG, "", "", stop=STOP).removesuffix("check\n") + LAUNCH,
        KNOBS + "main() {\n" + SHAPES["else"].format(WRONG, "", "", stop=STOP) + LAUNCH + "}\nmain\n",
        KNOBS
        + 'valid() {\n    python3 -c "import mesh; mesh.check()"\n    (( TP * CP > 0 ))\n}\nvalid || exit 1\n'
        + LAUNCH,
    ],
    ids=["never called", "in the statement that launches", "asks a program"],
)
def test_a_guard_that_cannot_be_tried_alone_is_not_judged(write: Write, text: str) -> None:
    assert _found(write, text) == []


def test_what_stops_for_another_reason_is_counted_apart(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    limit = "if (( TP > 4 )); then\n    echo too large\n    exit 1\nfi\n"
    path = str(write({PATH: KNOBS + limit + _guard("else", WRONG) + LAUNCH}) / PATH)

    guard = json.loads(cli(capsys, "plan", path, "--format", "json")[1])["plans"][0]["guard"]
    text = cli(capsys, "plan", path)[1]

    assert guard["undecided"] > 0
    assert guard["tried"] + guard["undecided"] <= 3000
    assert guard["accepted"] <= guard["tried"]
    assert (
        f"({guard['tried']} assignments tried, {guard['accepted']} accepted, "
        f"{guard['undecided']} more stop for another reason)"
    ) in text
