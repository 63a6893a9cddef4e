"""Against a checkout of Megatron-LM (``--corpus DIR``): the table equals its parser, and what its CI runs is accepted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from example_sanity.schema.argparse.reading import read_table
from example_sanity.schema.argparse.table import Flag, FlagTable, merged

_REAL = Path(__file__).with_name("real_parser.py")
_ENTRY = """\
import argparse
from megatron.training.arguments import add_megatron_arguments
add_megatron_arguments(argparse.ArgumentParser(add_help=False)).parse_args()
"""
# What the functional tests start (tests/test_utils/recipes of Megatron-LM).
_PROGRAMS = (
    "pretrain_gpt.py",
    "pretrain_hybrid.py",
    "pretrain_vlm.py",
    "train_rl.py",
    "examples/mimo/train.py",
    "examples/inference/offline_inference.py",
    "examples/inference/advanced/gpt_dynamic_inference.py",
    "examples/inference/advanced/gpt_dynamic_inference_with_coordinator.py",
    "examples/inference/advanced/gpt_static_inference.py",
    "megatron/elastification/pretrain_hybrid_flex.py",
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    folders = [Path(folder).resolve() for folder in metafunc.config.getoption("--corpus")]
    found = [folder for folder in folders if (folder / "megatron/training/arguments.py").is_file()]
    if "megatron" in metafunc.fixturenames:
        metafunc.parametrize("megatron", found, ids=[folder.name for folder in found])


@pytest.mark.corpus
def test_the_table_equals_what_add_megatron_arguments_makes(megatron: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(_REAL), str(megatron)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    real = json.loads(done.stdout.strip().split("\n")[-1])
    (tmp_path / "train.py").write_text(_ENTRY)
    table = read_table(tmp_path / "train.py", tmp_path, [megatron])
    assert table is not None

    assert table.unresolved == ()
    assert set(table.known) == set(real)
    different = {name for name, facts in real.items() if not _agrees(table.known[name][-1], facts)}
    assert different <= {"--exit-signal"}  # its choices are the signals of the machine


def _agrees(flag: Flag, facts: dict[str, object]) -> bool:
    kind = "enum" if facts["type"] == "enum_type_handler" else facts["type"]
    choices = None if flag.choices is None else list(flag.choices)
    return (flag.nargs, flag.type, choices) == (facts["nargs"], kind, facts["choices"])


@pytest.mark.corpus
def test_every_flag_of_the_functional_tests_is_known(megatron: Path) -> None:
    known = merged(_table(megatron, name) for name in _PROGRAMS if (megatron / name).is_file()).known
    files = sorted(megatron.glob("tests/functional_tests/test_cases/**/model_config.yaml"))
    used = [
        name
        for path in files
        for key, arguments in yaml.safe_load(path.read_text()).items()
        if key.startswith("MODEL_ARGS") and isinstance(arguments, dict)
        for name in arguments
        if name.startswith("-")
    ]

    assert len(used) > 10_000
    assert sorted(set(used) - set(known)) == []


def _table(repository: Path, name: str) -> FlagTable:
    file = repository / name
    above = [folder for folder in file.parents if folder == repository or repository in folder.parents]
    table = read_table(file, repository, above)
    assert table is not None
    assert table.unresolved == ()
    return table
