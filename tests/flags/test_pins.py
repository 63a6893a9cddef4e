"""Programs that read a framework which the repository pins: flags judged at the pin, and as they are now."""

from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity.core.finding import Severity
from gitrepo import commit, git
from helpers import Write, report

SCRIPT = "scripts/run-small.sh"
PARSER = (
    "import argparse\n\n"
    "def parse_args():\n    parser = argparse.ArgumentParser(allow_abbrev=False)\n"
    '    parser.add_argument("--num-layers", type=int)\n'
    '    parser.add_argument("--{name}", type=int)\n'
    "    return parser.parse_args()\n"
)
FILES = {
    "example-sanity.toml": "source-roots = ['framework']\n",
    "train.py": "from megatron.training.arguments import parse_args\n\nargs = parse_args()\n",
}


@pytest.fixture
def root(write: Write) -> tuple[Path, str]:
    arguments = "framework/megatron/training/arguments.py"
    found = write({**FILES, arguments: PARSER.format(name="old-size")})
    git(found / "framework", "init", "-q")
    first = commit(found / "framework", "first")
    (found / arguments).write_text(PARSER.format(name="new-size"))
    commit(found / "framework", "second")
    return found, first


def findings(root: Path, pin: str, flags: str) -> list[str]:
    (root / "docker").mkdir(exist_ok=True)
    (root / "docker/Dockerfile").write_text(f"FROM x\nARG MEGATRON_COMMIT={pin}\n")
    (root / "scripts").mkdir(exist_ok=True)
    (root / SCRIPT).write_text(f"python3 train.py {flags}\n")
    found = report(root, "flags").findings
    return [f"{item.severity.value} {item.code} {item.message.partition(' [')[2]}" for item in found]


def test_what_both_versions_accept_is_silent(root: tuple[Path, str]) -> None:
    assert findings(*root, "--num-layers 2") == []


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--num-layer 2", "error FLG001 at the pin megatron {} (docker/Dockerfile:2) and now, too]"),
        ("--new-size 2", "error FLG001 at the pin megatron {} (docker/Dockerfile:2) only]"),
        ("--old-size 2", "info FLG001 now only; not at the pin megatron {} (docker/Dockerfile:2)]"),
    ],
)
def test_the_pin_and_now_are_told_apart(root: tuple[Path, str], flags: str, expected: str) -> None:
    assert findings(*root, flags) == [expected.format(root[1][:9])]


def test_without_objects_what_is_here_is_judged(root: tuple[Path, str]) -> None:
    folder, _ = root
    assert findings(folder, "0" * 40, "--old-size 2") == ["error FLG001 "]
    (found,) = report(folder, "flags").findings
    assert found.severity is Severity.ERROR
