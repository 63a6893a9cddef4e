"""Public failures of the kind K8 (flags and entry points), each with an input of our own.

Every row is a launcher that the rule catches at the right column, and its corrected twin, which is silent. A row that needs
more than a launcher and the program's source is judged by the part of it that they show:

- K8-03 has no row: the keys stand in a YAML file whose meaning the command decides, and the flags of all subcommands count
  as one set.
- K8-06: which release is installed is a matter of ``example-sanity doctor``; shown is a flag that the program has not.
- K8-07: the commands in a README are judged by the family ``docs``; shown is the launcher.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from helpers import Write, report

PATH = "examples/run_small_fsdp.sh"
DATACLASS = (
    "from dataclasses import dataclass\nfrom transformers import HfArgumentParser\n\n"
    "@dataclass\nclass Arguments:\n    model: str\n    lr: float = 1e-5\n    template: str = 'default'\n\n"
    "args = HfArgumentParser(Arguments).parse_args_into_dataclasses()\n"
)
COMMANDS = (
    "import argparse\n\nparser = argparse.ArgumentParser()\nchosen = parser.add_subparsers()\n"
    "train = chosen.add_parser('train')\ntrain.add_argument('--lr', type=float)\n"
    "predict = chosen.add_parser('predict')\npredict.add_argument('--beams', type=int)\nargs = parser.parse_args()\n"
)
DOTTED = (
    "import argparse\n\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--actor.lr', type=float)\nargs = parser.parse_args()\n"
)
REQUIRED = (
    "import argparse\n\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--data', required=True)\nparser.add_argument('--lr', type=float)\nargs = parser.parse_args()\n"
)


class Row(NamedTuple):
    """Where it was reported, the program, the flags that fail, those that do not, and the rule."""

    id: str
    program: str
    bad: str
    good: str
    code: str


ROWS = [
    Row("K8-01", DATACLASS, "--model m --train_mm_proj_only true", "--model m --template x", "FLG001"),
    Row("K8-06", DATACLASS, "--model m --tuner_type lora", "--model m --lr 1", "FLG001"),
    Row("K8-07", DOTTED, "--actor_lr 1", "--actor.lr 1", "FLG001"),
    Row("K8-10", REQUIRED, "--lr 1", "--data d --lr 1", "FLG009"),
    Row("K8-10 dataclass", DATACLASS, "--lr 1", "--lr 1 --model m", "FLG009"),
]


def findings(write: Write, program: str, flags: str) -> list[str]:
    root = write({"train.py": program, PATH: f"python3 train.py {flags}\n"})
    return [f"{item.code} {item.message}" for item in report(root, "flags").findings]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_failure_is_caught(write: Write, row: Row) -> None:
    (found,) = findings(write, row.program, row.bad)
    assert found.startswith(row.code)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_corrected_twin_is_silent(write: Write, row: Row) -> None:
    assert findings(write, row.program, row.good) == []


def test_the_message_names_what_is_required(write: Write) -> None:
    assert findings(write, REQUIRED, "--lr 1") == [
        "FLG009 train.py requires --data (train.py:4), and the launcher does not give it"
    ]


@pytest.mark.parametrize(
    "flags", ["--lr ${LR:?}", "--config settings.yaml --lr 1", "--dat d --lr 1", "${MORE:?} --lr 1"]
)
def test_nothing_is_missing_where_it_may_come_from_elsewhere(write: Write, flags: str) -> None:
    program = REQUIRED.replace("args =", "parser.add_argument('--config')\nargs =")
    assert [item for item in findings(write, program, flags) if item.startswith("FLG009")] == []


@pytest.mark.parametrize(
    "program",
    [
        REQUIRED.replace("parser.add_argument('--data'", "if something():\n    parser.add_argument('--data'"),
        COMMANDS.replace("'--beams', type=int", "'--beams', required=True"),
    ],
    ids=["condition", "subcommand"],
)
def test_a_flag_that_is_required_only_sometimes_may_be_left_out(write: Write, program: str) -> None:
    words = "train --lr 1" if "add_subparsers" in program else "--lr 1"
    assert findings(write, program, words) == []


def test_a_caller_may_give_it(write: Write) -> None:
    (found,) = findings(write, REQUIRED, '--lr 1 "$@"')
    assert found.endswith('(or the caller\'s "$@" does)')


@pytest.mark.parametrize("grow", ['more="$more $1 $2"', "more+=($1)", 'more+=" $1"'])
def test_arguments_that_the_launcher_collects_may_hold_it(write: Write, grow: str) -> None:
    launcher = f"while [[ $# -gt 0 ]]; do {grow}; shift 2; done\npython3 train.py --lr 1 ${{more[@]}}\n"
    root = write({"train.py": REQUIRED, PATH: launcher})
    assert report(root, "flags").findings == ()
