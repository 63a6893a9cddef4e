"""Arguments and variables of steps: right ones are silent, wrong ones are found where the step is written."""

from __future__ import annotations

import pytest

from example_sanity.core.finding import Finding
from helpers import Write, report

WORKFLOW = ".github/workflows/e2e.yml"
PROGRAM = (
    "import argparse\n\nparser = argparse.ArgumentParser()\n"
    'parser.add_argument("--lr", type=float)\nparser.add_argument("--steps", type=int)\nargs = parser.parse_args()\n'
)
FILES: dict[str, str | bytes] = {
    "train.py": PROGRAM,
    "tests/run.sh": 'python3 train.py --steps "${STEPS:-10}" "$@"\n',
    "tests/wrong.sh": "python3 train.py --epochs 3\n",
    "tests/device.sh": (
        "device=$(python3 - <<'EOF'\nprint(name())\nEOF\n)\n"
        'if [ "$device" == cuda ]; then\n  python3 train.py --steps "${STEPS:-10}"\nelse\n  exit 1\nfi\n'
    ),
    "tests/wrap.sh": 'bash tests/run.sh "$@"\n',
}


def _workflow(script: str, *, job: str = "", step: str = "") -> str:
    lines = "".join(f"          {line}\n" for line in script.split("\n"))
    return (
        f"on: push\njobs:\n  e2e:\n    runs-on: gpu\n{job}    steps:\n      - uses: actions/checkout@v4\n"
        f"      - name: train\n{step}        run: |\n{lines}"
    )


def _findings(write: Write, text: str) -> list[Finding]:
    found = report(write({**FILES, WORKFLOW: text, "example-sanity.toml": ""}), "workflows").findings
    return [item for item in found if item.code == "WFL007"]


SILENT = {
    "right": _workflow("STEPS=2 bash tests/run.sh --lr 1e-5\npython train.py --steps 3"),
    "only known to a run": _workflow(
        "bash tests/run.sh --steps ${{ github.run_number }} --${{ inputs.flag }} 1"
    ),
    "a variable only known to a run": _workflow(
        "bash tests/run.sh", job="    env: {STEPS: '${{ vars.STEPS }}'}\n"
    ),
    "said of the script anyway": _workflow("bash tests/wrong.sh"),
    "no repository": _workflow("cd /opt\npython train.py --epochs 3"),
    "another program": _workflow("pip install --epochs 3"),
}


@pytest.mark.parametrize("text", SILENT.values(), ids=list(SILENT))
def test_what_is_right_or_not_known_is_silent(write: Write, text: str) -> None:
    assert [item.message for item in _findings(write, text)] == []


def test_a_wrong_flag_is_found_at_its_word(write: Write) -> None:
    (found,) = _findings(write, _workflow("set -x\npython train.py --lr 1 --epochs 3"))

    assert found.message == ("train.py has no flag --epochs, and argparse stops on it (FLG001 unknown-flag)")
    assert (found.span.line, found.span.column, found.span.end_column) == (10, 34, 42)


@pytest.mark.parametrize(
    "text",
    [
        _workflow("STEPS=few bash tests/run.sh"),
        _workflow("bash tests/wrap.sh", job="    env: {STEPS: few}\n"),
        _workflow("bash tests/run.sh", step="        env: {STEPS: few}\n"),
        _workflow("export STEPS=few\nuv run --frozen bash tests/run.sh"),
        _workflow(
            "STEPS=${{ matrix.steps }} bash tests/run.sh",
            job="    strategy: {matrix: {steps: [1, few, 2]}}\n",
        ),
    ],
    ids=["in front", "of the job", "of the step", "through uv", "in a matrix"],
)
def test_a_variable_that_a_script_cannot_take_is_found_at_the_call(write: Write, text: str) -> None:
    (found,) = _findings(write, text)

    assert found.message.startswith("started like this, tests/run.sh fails: ")
    assert "few" in found.message
    line = text.split("\n")[found.span.line - 1]
    assert "bash tests/" in line[found.span.column - 1 : found.span.end_column]
    assert [(item.path, item.span.line) for item in found.related] == [("tests/run.sh", 1)]


def test_arguments_that_are_handed_on_are_found_where_they_are_written(write: Write) -> None:
    (found,) = _findings(write, _workflow("bash tests/wrap.sh --epochs 3"))

    assert "--epochs" in found.message
    assert found.span.line == 9


def test_a_working_directory_moves_nothing(write: Write) -> None:
    (found,) = _findings(
        write, _workflow("python ../train.py --epochs 3", step="        working-directory: tests\n")
    )

    assert (found.span.line, found.span.column, found.span.end_column) == (10, 30, 38)


def test_rules_that_are_ignored_say_nothing(write: Write) -> None:
    files = {**FILES, WORKFLOW: _workflow("python train.py --epochs 3")}
    assert len(report(write({**files, "example-sanity.toml": ""}), "workflows").findings) == 1
    assert (
        report(write({**files, "example-sanity.toml": 'ignore = ["FLG001"]\n'}), "workflows").findings == ()
    )


def test_a_script_that_asks_a_program_for_the_device_is_told_of_gpus(write: Write) -> None:
    assert _findings(write, _workflow("STEPS=2 bash tests/device.sh")) == []
    (found,) = _findings(write, _workflow("STEPS=few bash tests/device.sh"))
    assert found.message.startswith("started like this, tests/device.sh fails: ")
