"""FLG on small launchers and programs: silent cases first, then each finding exactly."""

from __future__ import annotations

import pytest

from example_sanity.core.finding import Finding, Severity
from helpers import Write, brief, report

PATH = "examples/gpt/run_gpt_megatron.sh"
PROGRAM = """\
import argparse

def add_args(parser):
    group = parser.add_argument_group("model")
    group.add_argument("--num-layers", type=int)
    group.add_argument("--lr", type=float)
    group.add_argument("--schedule")
    group.add_argument("--fp16", action="store_true")
    group.add_argument("--sizes", nargs="+", type=int)
    group.add_argument("--decay", choices=["cosine", "linear"])
    group.add_argument("--level", type=int, choices=[1, 2])
    group.add_argument("--old", help="Deprecated: use --lr.")
    return parser

parser = add_args(argparse.ArgumentParser())
"""
STRICT = PROGRAM + "args = parser.parse_args()\n"
LENIENT = PROGRAM + "args, _ = parser.parse_known_args()\n"


def findings(write: Write, launcher: str, program: str = STRICT) -> tuple[Finding, ...]:
    return report(write({PATH: launcher, "train.py": program}), "flags").findings


def words(write: Write, flags: str, program: str = STRICT) -> list[tuple[str, int, str]]:
    """Return code, column and message of the findings on one command line."""
    found = findings(write, f"torchrun --nproc-per-node 8 train.py {flags}\n", program)
    return [(item.code, item.span.column, item.message) for item in found]


@pytest.mark.parametrize(
    "flags",
    [
        "",
        "--num-layers 2 --lr 1e-5 --fp16 --sizes 1 2 3 --decay linear --level 2",
        "--num-layers=2 --lr=-1e-5 --schedule=",
        "--lr -1e-5 --num-layers -3 --schedule ''",
        '--num-layers "${LAYERS:?}" --lr ${LR:?}',
        '--"${FLAG:?}" 3',
        "--schedule 'a b c'",
        "--num-layers 1_000",
    ],
)
def test_what_argparse_accepts_is_silent(write: Write, flags: str) -> None:
    assert words(write, flags) == []


@pytest.mark.parametrize(
    "launcher",
    [
        "torchrun other.py --nonsense 3\n",
        "python -m vllm.entrypoints.api_server --nonsense 3\n",
        "python -c 'print(1)' --nonsense\n",
        "echo torchrun train.py --nonsense\n",
        "python -m coverage run train.py --nonsense\n",
    ],
)
def test_programs_that_are_not_here_are_silent(write: Write, launcher: str) -> None:
    assert findings(write, launcher) == ()


@pytest.mark.parametrize(
    "line",
    ["import engine\nengine.add_cli_args(parser)\n", "parser.add_argument(NAME)\n"],
)
def test_flags_that_may_come_from_elsewhere_are_silent(write: Write, line: str) -> None:
    program = PROGRAM + line + "args = parser.parse_args()\n"

    assert words(write, "--nonsense 3 left over --num 3", program) == []
    assert [code for code, _, _ in words(write, "--decay cosin --num-layers x", program)] == [
        "FLG003",
        "FLG008",
    ]


def test_an_unknown_flag_names_the_nearest_one_and_where_it_is(write: Write) -> None:
    assert words(write, "--num-layer-s 3") == [
        (
            "FLG001",
            38,
            "train.py has no flag --num-layer-s, and argparse stops on it; the nearest is --num-layers (train.py:5)",
        )
    ]


def test_an_unknown_flag_in_an_array_is_found_at_its_word(write: Write) -> None:
    launcher = 'ARGS=(\n    --lr 1e-5\n    --warmup 3\n)\ntorchrun train.py "${ARGS[@]}"\n'

    assert brief(findings(write, launcher)) == [f"{PATH}:3 FLG001"]


def test_a_flag_of_one_scenario_is_reported_in_that_one(write: Write) -> None:
    launcher = 'case "${MODE:-a}" in\na) X=--lr ;;\nb) X=--rl ;;\nesac\ntorchrun train.py $X 3\n'

    (found,) = findings(write, launcher)

    assert (found.code, found.scenarios) == ("FLG001", ("MODE=b",))


def test_flags_that_a_patch_or_another_package_adds_are_silent(write: Write) -> None:
    patch = "+    group.add_argument('--gated', action='store_true')\n+    hybrid_mode: bool = False\n"
    config = '[flags]\nowned-prefixes = ["--engine-"]\n'
    launcher = "torchrun train.py --gated --hybrid-mode --engine-port 3 --ungated\n"
    root = write({PATH: launcher, "train.py": STRICT, "docker/m.patch": patch, "example-sanity.toml": config})

    assert [item.span.column for item in report(root, "flags").findings] == [launcher.index("--ungated") + 1]


def test_packages_are_read_from_source_roots(write: Write) -> None:
    root = write(
        {
            f"slime/{PATH}": "torchrun train.py --lr 3 --rl 3\n",
            "slime/train.py": "from megatron.arguments import parse_args\nparse_args()\n",
            "Megatron/megatron/arguments.py": STRICT.replace("args = ", "def parse_args():\n    return "),
            "slime/example-sanity.toml": 'source-roots = ["../Megatron"]\n',
        }
    )

    (found,) = report(root / "slime", "flags").findings

    assert found.message.startswith("train.py has no flag --rl, and argparse stops on it")


def test_a_lenient_program_drops_the_flag(write: Write) -> None:
    ((code, column, message),) = words(write, "--num-layer-s 3 extra", LENIENT)

    assert (code, column) == ("FLG006", 38)
    assert message == (
        "train.py drops --num-layer-s silently: none of its parsers knows it; the nearest is --num-layers (train.py:5)"
    )


def test_unknown_flags_that_are_handed_on_are_silent(write: Write) -> None:
    program = PROGRAM + "args, rest = parser.parse_known_args()\nprint(rest)\n"

    assert words(write, "--nonsense 3", program) == []


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--lr --fp16", "--lr needs 1 value and gets none"),
        ("--sizes --fp16", "--sizes needs 1 value and gets none"),
        ("--fp16 true", "--fp16 takes no value and gets 1; left over: true"),
        ("--lr 1 2", "--lr takes 1 value and gets 2; left over: 2"),
        ("extra --lr 1", "train.py takes no argument 'extra'"),
    ],
)
def test_too_few_and_too_many_values(write: Write, flags: str, message: str) -> None:
    assert [(code, text) for code, _, text in words(write, flags)] == [("FLG002", message)]


def test_a_value_that_bash_splits_is_one_finding(write: Write) -> None:
    launcher = 'ARGS=(\n    --schedule "0:16 2B:32 4B:64"\n)\ntorchrun train.py ${ARGS[@]}\n'

    (found,) = findings(write, launcher)

    assert (found.code, found.span.line, found.severity) == ("FLG002", 2, Severity.ERROR)
    assert found.message == (
        "--schedule takes 1 value and gets 3; left over: 2B:32 4B:64 "
        '(the value is split where its array is expanded: write "${ARGS[@]}")'
    )


@pytest.mark.parametrize("value", ["$(ls plans | head -1)", "`cat plan.txt`", "$1", "${2}"])
def test_what_a_command_prints_and_what_the_caller_gives_is_no_missing_value(
    write: Write, value: str
) -> None:
    assert findings(write, f"torchrun train.py --schedule {value} --fp16\n") == ()


@pytest.mark.parametrize(
    ("launcher", "message"),
    [
        (
            "torchrun train.py --schedule $PLAN --fp16\n",
            "--schedule needs 1 value and gets none: $PLAN is empty",
        ),
        (
            'P="<my plan>"\ntorchrun train.py --schedule $P\n',
            "--schedule takes 1 value and gets 2; left over: plan> (the value is split at its spaces: "
            "write $P in double quotes)",
        ),
        (
            'X=(--schedule "$PLAN")\n\ntorchrun train.py --fp16 ${X[@]}\n',
            "--schedule needs 1 value and gets none: $PLAN is empty",
        ),
        ("torchrun train.py --lr ''\n", "--lr takes a number and gets an empty value"),
    ],
)
def test_what_the_user_has_to_fill_in_is_an_info(write: Write, launcher: str, message: str) -> None:
    (found,) = findings(write, launcher)

    assert (found.severity, found.message) == (Severity.INFO, message)


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        (
            "--decay cosin",
            "FLG003",
            "--decay does not take 'cosin', only cosine, linear; the nearest is cosine",
        ),
        ("--decay=", None, ""),
        ("--level 3", "FLG003", "--level does not take '3', only 1, 2"),
        ("--level 01", None, ""),
        ("--num-layers 2.5", "FLG008", "--num-layers takes a whole number, and '2.5' is none"),
        ("--num-layers=1e6", "FLG008", "--num-layers takes a whole number, and '1e6' is none"),
        ("--sizes 1 2,3", "FLG008", "--sizes takes a whole number, and '2,3' is none"),
        ("--lr fast", "FLG008", "--lr takes a number, and 'fast' is none"),
        ("--lr nan", None, ""),
    ],
)
def test_values(write: Write, flags: str, code: str | None, message: str) -> None:
    assert [(c, m) for c, _, m in words(write, flags)] == ([(code, message)] if code else [])


def test_a_deprecated_flag_repeats_its_help(write: Write) -> None:
    (found,) = findings(write, "torchrun train.py --old 3\n")

    assert (found.code, found.severity) == ("FLG004", Severity.INFO)
    assert found.message == "--old is deprecated (train.py:12): Deprecated: use --lr."


def test_abbreviations(write: Write) -> None:
    assert words(write, "--num 3") == [("FLG005", 38, "--num is short for --num-layers; write --num-layers")]
    (found,) = findings(write, "torchrun train.py --l 3\n")
    assert (found.code, found.severity) == ("FLG005", Severity.ERROR)
    assert found.message == "--l may be any of 2 flags (--level, --lr), and argparse stops on it"


def test_without_allow_abbrev_an_abbreviation_is_unknown(write: Write) -> None:
    program = STRICT.replace("ArgumentParser()", "ArgumentParser(allow_abbrev=False)")

    assert [code for code, _, _ in words(write, "--num-layer 3", program)] == ["FLG001"]


def test_a_change_of_the_program_is_seen_by_the_next_run(write: Write) -> None:
    launcher = "torchrun train.py --warmup 3\n"

    assert brief(findings(write, launcher)) == [f"{PATH}:1 FLG001"]
    assert (
        findings(write, launcher, STRICT.replace('"--old"', '"--warmup"').replace("Deprecated: ", "")) == ()
    )


@pytest.mark.parametrize(
    "launcher",
    [
        "torchrun examples/gpt/train_gpt.py\n",
        "torchrun train_gpt.py\n",
        "torchrun gpt/train_gpt.py\n",
        "torchrun none.py\n",
        "torchrun /opt/examples/none.py\n",
        "torchrun other/none.py\n",
        "cd /opt/Megatron\ntorchrun examples/none.py\n",
        "git clone https://example.org/x\ntorchrun examples/none.py\n",
        "echo 'print(1)' > examples/none.py\ntorchrun examples/none.py\n",
        'torchrun "examples/${NAME:?}.py"\n',
        "torchrun examples/sub/none.py\n",
    ],
)
def test_files_that_are_there_or_may_be_elsewhere_are_silent(write: Write, launcher: str) -> None:
    modules = '[submodule "x"]\n\tpath = examples/sub\n'
    root = write({PATH: launcher, "examples/gpt/train_gpt.py": "print(1)\n", ".gitmodules": modules})

    assert report(root, "flags").findings == ()


@pytest.mark.parametrize(
    ("file", "hint"),
    [
        ("examples/gpt/train_gtp.py", "; the nearest is examples/gpt/train_gpt.py"),
        ("./examples/train_gpt.py", "; the nearest is examples/gpt/train_gpt.py"),
        ("examples/xyz.py", ""),
    ],
)
def test_a_file_that_is_nowhere(write: Write, file: str, hint: str) -> None:
    launcher = f'cd "$(dirname "$0")/../.."\ntorchrun \\\n    {file} --lr 3\n'
    root = write({PATH: launcher, "examples/gpt/train_gpt.py": "print(1)\n"})

    (found,) = report(root, "flags").findings

    assert (found.code, found.span.line, found.span.column) == ("FLG007", 3, 5)
    assert found.message == f"{file} does not exist{hint}"
