"""Real failures of documents and of files that launchers name, by the row of the catalogue: each is caught, and its twin is silent."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from example_sanity import session
from helpers import Write, brief

FILES: dict[str, str | bytes] = {
    "app/rules/math.py": "def score(): ...\n",
    "app/config/train.yaml": "defaults:\n  - _self_\n\ntrainer:\n  nnodes: 1\n",
    "app/train.py": (
        "import argparse\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--rollout-batch', type=int, default=32)\n"
        "parser.add_argument('--advantage', choices=['grpo', 'gspo'], default='grpo')\n"
        "parser.add_argument('--config')\nargs = parser.parse_args()\n"
    ),
    "configs/debug.toml": "steps = 1\n",
    "docs/index.md": "# Index\n\n## Run it\n",
    "examples/ppo/run_gsm8k_fsdp.sh": "STEPS=${STEPS:-10}\npython3 app/train.py --rollout-batch $STEPS\n",
    "examples/rlhf/run_rm_fsdp.sh": "python3 app/train.py\n",
}
LAUNCHER = "examples/ppo/run_debug_fsdp.sh"


class Row(NamedTuple):
    """A file that is wrong, the findings, and the same file done right."""

    path: str
    wrong: str
    found: list[str]
    right: str


ROWS = {
    "K10-01 a configuration names a file that is elsewhere": Row(
        "examples/a.yaml",
        "reward: app/rewards/math.py\n",
        ["examples/a.yaml:1 DOC015"],
        "reward: app/rules/math.py\n",
    ),
    "K10-03 a folder was renamed, the default of a launcher was not": Row(
        LAUNCHER,
        "CONFIG=${CONFIG:-configs/llm/debug.toml}\npython3 app/train.py --config $CONFIG\n",
        [f"{LAUNCHER}:2 FLG010"],
        "CONFIG=${CONFIG:-configs/debug.toml}\npython3 app/train.py --config $CONFIG\n",
    ),
    "K11-01 a README names a script whose name differs": Row(
        "README.md",
        "Run `examples/ppo/run_gsm8k.sh`.\n",
        ["README.md:1 DOC001"],
        "Run `examples/ppo/run_gsm8k_fsdp.sh`.\n",
    ),
    "K11-03 a page tells to run a script that was removed": Row(
        "docs/gsm8k.md",
        "# GSM8K\n\n```bash\nbash examples/ppo_trainer/run_gsm8k_fsdp.sh\n```\n",
        ["docs/gsm8k.md:4 DOC001"],
        "# GSM8K\n\n```bash\nbash examples/ppo/run_gsm8k_fsdp.sh\n```\n",
    ),
    "K11-05 a README teaches a suffix that the naming rules refuse": Row(
        "examples/README.md",
        "Name it `run_<model>_<backend>_<infer-engine>.sh`.\n",
        ["examples/README.md:1 DOC013"],
        "Name it `run_<model>_<backend>.sh`.\n",
    ),
    "K11-07 a table gives an old default": Row(
        "docs/flags.md",
        "| Flag | Default |\n|---|---|\n| `--rollout-batch` | `64` |\n",
        ["docs/flags.md:3 DOC005"],
        "| Flag | Default |\n|---|---|\n| `--rollout-batch` | `32` |\n",
    ),
    "K11-07 a quoted command gives a value that is no choice any more": Row(
        "docs/choices.md",
        "```bash\npython3 app/train.py --advantage reinforce\n```\n",
        ["docs/choices.md:2 DOC002"],
        "```bash\npython3 app/train.py --advantage gspo\n```\n",
    ),
    "K11-07 a page links to a heading that has another name": Row(
        "docs/start.md", "[Run](index.md#run)\n", ["docs/start.md:1 DOC009"], "[Run](index.md#run-it)\n"
    ),
    "K11-09 a link leads to a script that was moved": Row(
        "README.md",
        "[rm](examples/run_rm_fsdp.sh)\n",
        ["README.md:1 DOC001"],
        "[rm](examples/rlhf/run_rm_fsdp.sh)\n",
    ),
    "K11-11 a page names examples that were moved": Row(
        "docs/examples.rst",
        "Examples\n========\n\nStart with ``examples/trainer/run_gsm8k_fsdp.sh``.\n",
        ["docs/examples.rst:4 DOC001"],
        "Examples\n========\n\nStart with ``examples/ppo/run_gsm8k_fsdp.sh``.\n",
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_a_row_is_caught_and_its_twin_is_silent(write: Write, row: Row) -> None:
    assert _found(write, row.path, row.right) == []
    assert _found(write, row.path, row.wrong) == row.found


def _found(write: Write, path: str, text: str) -> list[str]:
    opened = session.open_run((), root=write({**FILES, path: text}))
    families = [opened.registry.family(name) for name in ("docs", "flags")]
    return brief(opened.check(families).findings)
