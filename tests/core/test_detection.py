"""Which project a repository is, by its files."""

from __future__ import annotations

import pytest

from example_sanity.core.detection import Detected, detect
from example_sanity.core.project import Project
from helpers import Write


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([], Detected(None, None)),
        (["verl/__init__.py", "examples/a.sh"], Detected(None, None)),
        (["third_party/verl/trainer/main_ppo.py"], Detected(None, None)),
        (["verl/trainer/main_ppo.py"], Detected("verl", "verl/trainer/main_ppo.py")),
        (["megatron/core/__init__.py"], Detected("megatron-lm", "megatron/core/__init__.py")),
        (["slime_plugins/__init__.py"], Detected("slime", "slime_plugins/__init__.py")),
    ],
)
def test_a_project_is_known_by_what_only_it_has(write: Write, files: list[str], expected: Detected) -> None:
    assert detect(Project(write(dict.fromkeys(files, "")))) == expected
