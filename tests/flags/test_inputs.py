"""FLG010: files that launchers hand to their programs."""

from __future__ import annotations

import pytest

from example_sanity.checks.flags.inputs import MissingInput
from example_sanity.testing import check_rule

FILES = {"configs/debug.toml": "steps = 1\n", "examples/ppo/ds.json": "{}\n", "train.py": "print(1)\n"}


def found(text: str) -> list[str]:
    items = check_rule(MissingInput, text, path="examples/ppo/run_a_fsdp.sh", files=FILES)
    return [f"{item.span.line}:{item.span.column} {item.message}" for item in items]


@pytest.mark.parametrize(
    "text",
    [
        "python3 train.py --config configs/debug.toml --deepspeed ds.json a.file=examples/ppo/ds.json\n",
        "python3 train.py --config $1 --other ${CONFIG:?}/a.toml\n",
        "python3 train.py --output configs/new.toml --log-file configs/log.txt trainer.save_path=configs/x.json\n",
        "sed s/a/b/ configs/debug.toml > configs/new.toml\npython3 train.py --config configs/new.toml\n",
        "CONFIG=configs/new.json\ncat <<END > $CONFIG\n{}\nEND\npython3 train.py --config=${CONFIG}\n",
        "# from https://example.com/blob/main/pairs.json\npython3 train.py --data configs/pairs.json\n",
        "python3 train.py --config /etc/configs/gone.toml --data elsewhere/gone.json --x configs/a_directory\n",
    ],
)
def test_files_that_are_there_or_made_are_silent(text: str) -> None:
    assert found(text) == []


def test_a_default_that_was_not_moved_with_its_file() -> None:
    # The folder was renamed, and the default of the variable was not.
    text = 'CONFIG=${CONFIG:-./configs/train/debug.toml}\npython3 train.py --job.config_file "$CONFIG"\n'
    assert found(text) == [
        "2:36 ./configs/train/debug.toml does not exist; the nearest is configs/debug.toml"
    ]


def test_a_file_of_an_override() -> None:
    assert found("python3 train.py reward.path=examples/ppo/gone.py\n") == [
        "1:18 examples/ppo/gone.py does not exist"
    ]


@pytest.mark.parametrize("name", ["configs/get.sh", "configs/README.md"])
def test_what_is_said_to_be_fetched_is_silent(name: str) -> None:
    files = {**FILES, name: "wget https://example.com/words.json\n"}
    text = "python3 train.py --words configs/words.json --other configs/verbs.json\n"
    items = check_rule(MissingInput, text, path="examples/ppo/run_a_fsdp.sh", files=files)
    assert [item.message for item in items] == ["configs/verbs.json does not exist"]
