"""Real failures of continuous integration, by the row of the catalogue: each is caught, and its twin is silent."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from helpers import Write, brief, report

HEAD = "on: push\njobs:\n  e2e:\n    runs-on: gpu\n    steps:\n      - uses: actions/checkout@v4\n      - run: |\n"
E2E = ".github/workflows/e2e.yml"
FILTER = "on:\n  pull_request:\n    paths:\n      - 'trainer/**'\n      - '{}'\njobs: {{}}\n"
FILES: dict[str, str | bytes] = {
    "trainer/sft_trainer.py": "",
    "trainer/config/sft.yaml": "a: 1\n",
    "tests/e2e/run_sft.sh": "python3 trainer/sft_trainer.py\n",
    "tests/e2e/run_ppo.sh": "python3 trainer/sft_trainer.py\n",
    "recipes/llm/grpo-8b.sh": "python3 trainer/sft_trainer.py\n",
    "recipes/llm/grpo-70b.sh": "python3 trainer/sft_trainer.py\n",
    "example-sanity.toml": "[workflows]\nroots = ['recipes']\nsuites = ['tests/suites/*.txt']\n",
}


def _step(*lines: str) -> str:
    return HEAD + "".join(f"          {line}\n" for line in lines)


class Row(NamedTuple):
    """A file that is wrong, the findings, and the same file done right."""

    path: str
    wrong: str
    found: list[str]
    right: str


NIGHTLY = "tests/suites/nightly.txt"
BOTH = "recipes/llm/grpo-8b.sh\nrecipes/llm/grpo-70b.sh\n"
ROWS = {
    "K15-01 a filter names a trainer that was renamed": Row(
        E2E,
        FILTER.format("trainer/fsdp_sft_trainer.py"),
        [f"{E2E}:5 WFL001"],
        FILTER.format("trainer/sft_trainer.py"),
    ),
    "K15-01 a filter names a folder": Row(
        E2E, FILTER.format("tests/e2e"), [f"{E2E}:5 WFL001"], FILTER.format("tests/e2e/**")
    ),
    "K15-03 a disabled list names a script that is gone": Row(
        "tests/suites/disabled.txt",
        "recipes/llm/grpo-8b.sh\nrecipes/llm/grpo-70b.sh\nrecipes/llm/sft-8b.sh\n",
        ["tests/suites/disabled.txt:3 WFL005"],
        BOTH,
    ),
    "K15-05 a comment of a suite matches nothing": Row(
        NIGHTLY,
        f"# recipes/llm/sft-*.sh\n{BOTH}",
        [f"{NIGHTLY}:1 WFL005"],
        f"# recipes/llm/grpo-*.sh\n{BOTH}",
    ),
    "K15-05 a recipe is listed nowhere": Row(
        NIGHTLY, "recipes/llm/grpo-8b.sh\n", ["recipes/llm/grpo-70b.sh:1 WFL008"], BOTH
    ),
    "K10-01 a step names a file that is not there": Row(
        E2E, _step("pytest tests/e2e/rules/test_a.py"), [f"{E2E}:8 WFL004"], _step("ls tests/e2e")
    ),
    "K10-03 a folder was renamed, a default in the step was not": Row(
        E2E,
        _step("CONFIG=${CONFIG:-test/e2e}", "bash $CONFIG/run_sft.sh"),
        [f"{E2E}:9 WFL004"],
        _step("CONFIG=${CONFIG:-tests/e2e}", "bash $CONFIG/run_sft.sh"),
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_a_row_is_caught_and_its_twin_is_silent(write: Write, row: Row) -> None:
    covered = {} if row.path == NIGHTLY else {NIGHTLY: BOTH}
    found = report(write({**FILES, **covered, row.path: row.wrong}), "workflows").findings
    assert brief(found) == row.found
    twin = report(write({**FILES, **covered, row.path: row.right}), "workflows").findings
    assert brief(twin) == []
