"""SRC004: tests stand where sources do, under names that jobs choose."""

from __future__ import annotations

from typing import Any

import pytest

from example_sanity.checks.sources.layout import TestLayout
from example_sanity.testing import check_rule

SOURCES = {
    "pkg/trainer/ppo/core.py": "",
    "pkg/utils/a.py": "",
    "pkg/config/a.yaml": "",
}
LAYOUT = {"tests": "tests", "sources": "pkg", "extra": ["e2e"], "files": ["tests/test_top.py"]}


def found(path: str, **more: Any) -> list[str]:
    options = {"layout": [{**LAYOUT, **more}]}
    findings = check_rule(TestLayout, "def test_it(): pass\n", path=path, files=SOURCES, options=options)
    return [item.message for item in findings]


@pytest.mark.parametrize(
    "path",
    [
        "tests/trainer/test_a.py",
        "tests/trainer/deeper/test_a.py",
        "tests/utils/a_test.py",
        "tests/e2e/any/test_a.py",
        "tests/test_top.py",
        "tests/helpers.py",
        "tests/config.py",
        "other/test_a.py",
    ],
)
def test_tests_beside_their_sources_are_silent(path: str) -> None:
    assert found(path) == []


def test_a_test_in_the_root_of_tests_is_found() -> None:
    message = "the test stands in tests/ itself; put it into the folder of what it tests: trainer, utils"

    assert found("tests/test_a.py") == [message]
    assert found("tests/a_test.py") == [message]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "tests/trianer/test_a.py",
            "tests/trianer/ mirrors no folder of sources: pkg/ has no trianer/ (did you mean 'trainer'?)",
        ),
        (
            "tests/utlis/a_test.py",
            "tests/utlis/ mirrors no folder of sources: pkg/ has no utlis/ (did you mean 'utils'?)",
        ),
        ("tests/config/test_z.py", "tests/config/ mirrors no folder of sources: pkg/ has no config/"),
    ],
)
def test_a_folder_without_sources_is_found_with_the_nearest(path: str, message: str) -> None:
    assert found(path) == [message]


def test_depth_says_how_far_folders_are_compared() -> None:
    path = "tests/trainer/pop/test_a.py"
    message = (
        "tests/trainer/pop/ mirrors no folder of sources: pkg/trainer/ has no pop/ (did you mean 'ppo'?)"
    )

    assert found(path, depth=1) == []
    assert found(path, depth=2) == [message]
    assert found(path, depth=0) == [message]
    assert found("tests/trainer/ppo/test_a.py", depth=0) == []


@pytest.mark.parametrize("name", ["test_a_on_cpu", "test_a_on_npu", "test_a", "test_cpu_offload", "test_gpu"])
def test_names_of_a_suite_or_of_none_are_silent(name: str) -> None:
    assert found(f"tests/utils/{name}.py", suites=["_on_cpu", "_on_npu"]) == []


@pytest.mark.parametrize(
    "name", ["test_a_cpu", "test_a_in_cpu", "test_a_on_cpus", "test_a_on_CPU", "test_a_cpu_only"]
)
def test_a_name_that_nearly_ends_in_a_suite_is_found(name: str) -> None:
    (message,) = found(f"tests/utils/{name}.py", suites=["_on_cpu"])

    assert message.endswith("and jobs choose tests that end in '_on_cpu'; rename it to test_a_on_cpu.py")
