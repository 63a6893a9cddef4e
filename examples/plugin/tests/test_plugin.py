"""The tests of the plugin: one line for each case of the rule, and one test for each other thing that it offers."""

from __future__ import annotations

from pathlib import Path

import pytest

import sanity_acme
from example_sanity import Example, UsageError, checks
from example_sanity.checks.mesh.rules import DenseMesh
from example_sanity.testing import check_rule
from sanity_acme.storage import CheckpointInTmp

PLUGINS = [sanity_acme]


@pytest.mark.parametrize("text", [example.text for example in CheckpointInTmp.good] + ["python3 train.py\n"])
def test_shared_folders_are_silent(text: str) -> None:
    assert check_rule(CheckpointInTmp, text, plugins=PLUGINS) == []


@pytest.mark.parametrize("example", CheckpointInTmp.bad)
def test_folders_that_vanish_are_found(example: Example) -> None:
    (finding,) = check_rule(CheckpointInTmp, example.text, plugins=PLUGINS)

    assert finding.message == "checkpoints go to /tmp/run, which vanishes with the node; name a shared folder"
    assert finding.span.line == 2


def test_folders_are_an_option() -> None:
    text = "python3 train.py --save-dir /scratch/run\n"

    assert check_rule(CheckpointInTmp, text, plugins=PLUGINS) == []
    assert check_rule(CheckpointInTmp, text, options={"folders": ["/scratch"]}, plugins=PLUGINS) != []
    with pytest.raises(UsageError, match=r"storage: unknown key 'folder' \(did you mean 'folders'\?\)"):
        check_rule(CheckpointInTmp, text, options={"folder": ["/scratch"]}, plugins=PLUGINS)


def test_what_the_cluster_command_starts_is_a_launch() -> None:
    text = "acme submit --nodes 2 train.py --save-dir /tmp/run\n"

    assert len(check_rule(CheckpointInTmp, text, plugins=PLUGINS)) == 1


def test_the_backend_is_known_to_the_mesh_rules() -> None:
    text = "python3 -m acme.train --nodes 1 --gpus-per-node 8 --tp 3\n"

    (finding,) = check_rule(DenseMesh, text, plugins=PLUGINS)

    assert finding.message.startswith("8 GPUs do not divide into tp3·pp1 = 3 (2 left over)")
    assert check_rule(DenseMesh, text.replace("--tp 3", "--tp 4"), plugins=PLUGINS) == []


def test_the_preset_is_a_valid_configuration(tmp_path: Path) -> None:
    from example_sanity.core import config

    registry = checks.registry(PLUGINS)

    loaded = config.load(tmp_path, registry.families, registry.presets, preset="acme")

    assert loaded.families["storage"].folders == ("/tmp", "/scratch")
