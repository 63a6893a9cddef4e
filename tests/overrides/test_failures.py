"""Public failures of the kinds K7 (keys), K9 (values) and K16 (versions), each with an input of our own.

Every row is a launcher that the rule catches at the right line, and its corrected twin, which is silent. Not to be seen
in a launcher and its framework's source, and therefore without a row:

- K7-03, its second half: that the prepared data lack a column is known to the data only (its stale keys are a row).
- K9-06: a number that is odd but legal (1204*8 for 1024*8) contradicts nothing that is written down.
- K16-01: a patch that does not fit a checkout; which of both belong together is written in prose.
- K16-03: a model that is newer than the pinned bridge; what a release supports is no part of its configuration.
- K16-05: an import that a distribution does not contain is a matter of what is installed: ``example-sanity doctor``.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from helpers import Write, report
from overrides.program import FILES, SCRIPT

VERL = "verl.trainer.main_ppo"
SFT = "verl.trainer.sft_trainer"
NAME = "actor_rollout_ref.rollout.name=vllm"


class Row(NamedTuple):
    """Where it was reported, the words of a launcher that fails, those of one that does not, and the rule with its line."""

    id: str
    bad: tuple[str, ...]
    good: tuple[str, ...]
    expected: str
    module: str = VERL
    files: dict[str, str] = {}


MODES = {
    "app/options.py": FILES["app/options.py"].replace(
        "        assert self.mode in MODES\n",
        '        assert self.mode in MODES\n        if self.kind == "b":\n            raise ValueError("gone")\n',
    )
}
STANDALONE = {
    "app/options.py": FILES["app/options.py"].replace(
        "    lr: float = 1e-6\n", "    lr: float\n    seed: int\n", 1
    ),
    "app/config/alone.yaml": "actor:\n  _target_: app.options.Actor\n  lr: 1.0\n",
}
BROKEN = {"app/config/broken.yaml": "data:\n  size: ${model.width}\nmodel:\n  depth: 1\n"}
ROWS = [
    Row(
        "K7-01", (NAME, "trainer.max_ckpt_to_keep=3"), (NAME, "trainer.max_actor_ckpt_to_keep=3"), "3 OVR001"
    ),
    Row("K7-03", ("model.partial_pretrain=x",), ("model.path=x",), "2 OVR001", SFT),
    Row(
        "K7-06",
        (NAME, "trainer.val_generations_to_log_to_wandb=1"),
        (NAME, "trainer.log_val_generations=1"),
        "3 OVR001",
    ),
    Row(
        "K7-07",
        (NAME, "reward_model.sandbox_fusion.url=x"),
        (NAME, "reward.sandbox_fusion.url=x"),
        "3 OVR001",
    ),
    Row(
        "K7-09",
        ("--config-name=broken",),
        ("--config-name=broken", "data.size=1"),
        "1 OVR019",
        "app.train",
        BROKEN,
    ),
    Row(
        "K7-09 written",
        ("'trainer.project_name=${run.name}'",),
        ("'trainer.project_name=${data.max_length}'",),
        "2 OVR019",
        "app.train",
    ),
    Row(
        "K7-09 deleted",
        ("trainer.nnodes=1", "~data.max_length"),
        ("~data.max_length", "actor.length=1"),
        "3 OVR019",
        "app.train",
    ),
    Row(
        "K7-11",
        ("--config-name=alone",),
        ("--config-name=alone", "+actor.seed=1"),
        "1 OVR020",
        "app.train",
        STANDALONE,
    ),
    Row("K7-13", ("++servers.policy.workers=2",), ("++trainer.nnodes=2",), "2 OVR021", "app.train"),
    Row("K9-01", ("actor.kind=b",), ("actor.kind=a",), "2 OVR005", "app.train", MODES),
    Row(
        "K9-01 shipped",
        (NAME, "actor_rollout_ref.rollout.mode=sync"),
        (NAME, "actor_rollout_ref.rollout.mode=async"),
        "3 OVR005",
    ),
    Row("K9-01 list", ("actor.mode=sink",), ("actor.mode=sync",), "2 OVR005", "app.train"),
    Row("K9-04", ("trainer.nnodes=2",), (NAME, "trainer.nnodes=2"), "1 OVR020"),
]


def findings(write: Write, row: Row, words: tuple[str, ...]) -> list[str]:
    lines = "".join(f" \\\n    {word}" for word in words)
    own = FILES if row.module.startswith("app.") else {}
    root = write({**own, **row.files, SCRIPT: f"python3 -m {row.module}{lines}\n"})
    return [f"{item.span.line} {item.code} {item.message}" for item in report(root, "overrides").findings]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_failure_is_caught_where_it_is_written(write: Write, row: Row) -> None:
    (found,) = findings(write, row, row.bad)
    assert found.startswith(f"{row.expected} ")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_corrected_twin_is_silent(write: Write, row: Row) -> None:
    assert findings(write, row, row.good) == []


def test_the_messages_say_what_to_do(write: Write) -> None:
    rows = {row.id: row for row in ROWS}
    (moved,) = findings(write, rows["K7-07"], rows["K7-07"].bad)
    assert moved.endswith("any more: renamed in v0.7.1 (commit 12b6382f8): use reward.sandbox_fusion.url")
    (lacking,) = findings(write, rows["K7-11"], rows["K7-11"].bad)
    assert lacking.endswith(
        "actor becomes an object whose class needs seed: its construction fails; add +actor.seed=..."
    )
    (deleted,) = findings(write, rows["K7-09 deleted"], rows["K7-09 deleted"].bad)
    assert deleted.partition(" OVR019 ")[2] == (
        "actor.length refers to data.max_length (app/config/actor/actor.yaml:10), and there is no such key: reading it fails"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("trainer.nnodes=2", "--cfg=job"),
        ("trainer.nnodes=${NODES:?}",),
        ("trainer.nnodes=2", "actor_rollout_ref.rollout.name=${ENGINE:?}"),
    ],
)
def test_nothing_lacks_where_hydra_only_prints_or_the_user_decides(
    write: Write, words: tuple[str, ...]
) -> None:
    assert findings(write, Row("", words, (), ""), words) == []


def test_a_caller_may_give_what_is_missing(write: Write) -> None:
    root = write({SCRIPT: f'python3 -m {VERL} trainer.nnodes=2 "$@"\n'})
    (found,) = report(root, "overrides").findings
    assert (found.severity.value, found.code) == ("warning", "OVR020")
    assert found.message.endswith('(or the caller\'s "$@" does)')


@pytest.mark.parametrize(
    ("value", "silent"),
    [
        ("${.max_length}", True),
        ("${..trainer.nnodes}", True),
        ("${oc.env:HOME}", True),
        ("${actor.${engine}}", True),
        ("${trainer.logger.0}", True),
        ("${actor.length.deep}", True),
        ("${.max_len}", False),
        ("a/${data.max_len}/b", False),
    ],
)
def test_references_are_followed_as_omegaconf_does(write: Write, value: str, silent: bool) -> None:
    row = Row("", (f"\"data.train_files='{value}'\"".replace("$", "\\$"),), (), "", "app.train")
    assert [item[:8] for item in findings(write, row, row.bad)] == ([] if silent else ["2 OVR019"])
