"""DOC002 and DOC014: commands in documents, evaluated with what they quote."""

from __future__ import annotations

import pytest

from example_sanity.checks.docs.commands import WrongCommand
from example_sanity.checks.docs.paths import DanglingPath
from example_sanity.checks.docs.settings import DocUnusedSetting
from example_sanity.core.finding import Finding
from example_sanity.testing import check_rule
from helpers import Write, report

PARSER = (
    "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--steps', type=int)\n"
    "parser.add_argument('--mode', choices=['a', 'b'])\nparser.parse_args()\n"
)
RUN = 'STEPS=${STEPS:-1}\nsource "$(dirname "$0")/common.sh"\npython3 train.py --steps "$STEPS" "$@"\n'
FILES = {
    "train.py": PARSER,
    "app/__init__.py": "",
    "app/train.py": PARSER,
    "examples/run.sh": RUN,
    "examples/common.sh": "export SEED=${SEED:-1}\n",
    "examples/fixed.sh": "STEPS=${STEPS:-1}\npython3 train.py --steps $STEPS\n",
}


def block(text: str) -> str:
    return f"# Run\n\n- so:\n\n  ```bash\n  {text}\n  ```\n"


def wrong(text: str, path: str = "README.md") -> list[Finding]:
    return check_rule(WrongCommand, block(text), path=path, files=FILES)


@pytest.mark.parametrize(
    "text",
    [
        "python3 train.py --steps 5 --mode a",
        "python3 train.py --steps $STEPS --mode <mode>",
        "python3 train.py --steps ${{ inputs.steps }}",
        "python3 -m app.train --steps 5 ...",
        "STEPS=5 bash examples/run.sh --mode b",
        "STEPS=many python3 other.py",
        "python3 -m elsewhere.train --stps 5",
        "pip install --stps 5",
    ],
)
def test_commands_that_work_are_silent(text: str) -> None:
    assert wrong(text) == []


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (
            "python3 train.py --stps 5",
            (6, 20),
            "FLG001 unknown-flag: train.py has no flag --stps, and argparse stops on it; the nearest is --steps (train.py:4)",
        ),
        (
            "$ python3 train.py --mode c",
            (6, 29),
            "FLG003 flag-bad-choice: --mode does not take 'c', only a, b",
        ),
        (
            "python3 -m app.trian --steps 5",
            (6, 3),
            "OVR006 missing-module: there is no module app.trian in app (did you mean 'app.train'?)",
        ),
    ],
)
def test_commands_that_fail(text: str, place: tuple[int, int], message: str) -> None:
    (item,) = wrong(text)
    assert ((item.span.line, item.span.column), item.message) == (place, message)


@pytest.mark.parametrize(
    "text",
    [
        "python3 train.py --steps </path/to/steps>",
        "python3 train.py --mode [a | b]",
        "python3 train.py --steps 5 --mode {a,b}",
        "python3 train.py --mode {mode}",
    ],
)
def test_ways_to_write_a_choice_are_silent(text: str) -> None:
    assert wrong(text) == []


def test_a_missing_file_is_said_once() -> None:
    text = block("python3 train.py --config examples/gone.yaml")
    program = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--config')\np.parse_args()\n"
    files = {**FILES, "train.py": program}
    assert len(check_rule(DanglingPath, text, path="README.md", files=files)) == 1
    assert check_rule(WrongCommand, text, path="README.md", files=files) == []
    off = {**files, "example-sanity.toml": "ignore = ['DOC001']\n"}
    (item,) = check_rule(WrongCommand, text, path="README.md", files=off)
    assert item.message == "FLG010 missing-input: examples/gone.yaml does not exist"


def test_a_file_for_a_script_is_told_of_at_its_command() -> None:
    files = {**FILES, "examples/with.sh": "python3 train.py --mode $1\n"}
    text = block("bash examples/with.sh a\n  bash examples/with.sh c")
    (item,) = check_rule(WrongCommand, text, path="README.md", files=files)
    assert (item.span.line, item.message.partition(":")[0]) == (7, "FLG003 flag-bad-choice")


def test_a_script_is_judged_with_the_quoted_environment() -> None:
    (item,) = wrong("STEPS=many bash examples/run.sh")
    assert item.message == "FLG008 flag-wrong-type: --steps takes a whole number, and 'many' is none"
    assert (item.span.line, item.span.column) == (6, 3)
    assert [related.path for related in item.related] == ["examples/run.sh"]
    (item,) = wrong("bash examples/run.sh --mode c")
    assert "FLG003" in item.message


def test_a_script_beside_the_document() -> None:
    (item,) = wrong("STEPS=many bash run.sh", "examples/README.md")
    assert "FLG008" in item.message


def test_rules_that_are_off_say_nothing(write: Write) -> None:
    files = {**FILES, "README.md": block("python3 train.py --stps 5")}
    assert len(report(write(files), "docs").findings) == 1
    off = {"example-sanity.toml": 'ignore = ["FLG001"]\n'}
    assert report(write({**files, **off}), "docs").findings == ()


def test_blocks_that_are_no_commands_are_said_to_be_uninspected(write: Write) -> None:
    text = "```bash\nstep:0 - loss (1) 5\n```\n\n```\nloss (1) 5\n```\n"
    (item,) = report(write({"README.md": text}), "docs").findings
    assert (item.code, item.severity.value, item.span.line) == ("SYS003", "info", 2)
    assert item.message.startswith(
        "a shell cannot read this block from here on, so it was not inspected: syntax error"
    )


def unused(text: str, path: str = "README.md") -> list[str]:
    items = check_rule(DocUnusedSetting, block(text), path=path, files=FILES)
    return [f"{item.span.line}:{item.span.column} {item.message}" for item in items]


@pytest.mark.parametrize(
    "text",
    [
        "STEPS=5 SEED=2 NCCL_DEBUG=INFO bash examples/run.sh --mode b",
        "STEPS=5 bash examples/fixed.sh &",
        "STPS=5 bash examples/gone.sh",
        "STPS=5 python3 train.py",
    ],
)
def test_settings_that_are_read_are_silent(text: str) -> None:
    assert unused(text) == []


def test_settings_that_nobody_reads() -> None:
    assert unused("STEP=5 bash examples/run.sh") == [
        "6:3 examples/run.sh does not read STEP; the nearest knob is STEPS"
    ]
    assert unused("WORLD=5 bash fixed.sh", "examples/README.md") == [
        "6:3 examples/fixed.sh does not read WORLD"
    ]
    assert unused("bash examples/fixed.sh --mode b") == [
        "6:26 examples/fixed.sh reads no arguments, so --mode has no effect"
    ]
