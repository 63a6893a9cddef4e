"""Where Python looks first: what the launcher puts there, as the evaluation sees it."""

from __future__ import annotations

import pytest

from example_sanity.launch import pythonpath
from example_sanity.launch.entry import entries
from example_sanity.launch.evaluator import evaluate
from example_sanity.launch.scenario import Scenario
from example_sanity.launch.syntax import parse
from helpers import Write


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python3 -m app.train\n", [""]),
        ("cd pkg\npython3 -m app.train\n", ["pkg"]),
        ("cd pkg/deep && python3 ../train.py\n", ["pkg"]),
        ("export PYTHONPATH=$PWD/pkg:/lib:$PYTHONPATH\npython3 -m app.train\n", ["", "pkg", "lib"]),
        ("cd pkg\nPYTHONPATH=.:deep python3 -m app.train\n", ["pkg", "pkg/deep"]),
        ("torchrun --nproc-per-node 8 pkg/train.py\n", ["pkg"]),
        ("(cd pkg && true)\npython3 -m app.train\n", [""]),
    ],
)
def test_folders_of_the_project_in_the_order_of_python(write: Write, text: str, expected: list[str]) -> None:
    root = write({"pkg/deep/x.py": ""})
    launch = evaluate(parse("run.sh", text.encode()), Scenario(), root)
    (entry,) = entries(launch.commands)
    assert pythonpath.inside(entry) == expected


def test_ray_hands_its_workers_a_path_of_their_own(write: Write) -> None:
    text = """ray job submit --runtime-env-json='{"env_vars": {"PYTHONPATH": "/a:/b"}}' -- python3 -m app.train\n"""
    launch = evaluate(parse("run.sh", text.encode()), Scenario(), write({"a/x.py": ""}))
    (entry,) = launch.entries
    assert pythonpath.given_folders(entry) == ["/a", "/b"]
