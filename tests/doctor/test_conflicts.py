"""Places of a repository that no version can satisfy together."""

from __future__ import annotations

import pytest

from doctor.site import install
from example_sanity.core.project import Project
from example_sanity.doctor import environment
from example_sanity.doctor.conflicts import conflicts
from example_sanity.doctor.findings import Verdict
from example_sanity.doctor.sources import gather
from example_sanity.launch.syntax import parse
from helpers import Write


def found(write: Write, files: dict[str, str], *chosen: str) -> Verdict:
    root = write(files)
    if not (root / "venv").exists():
        install(root / "venv", "demo", "1.0")
    script = parse("run.sh", files["run.sh"].encode()) if "run.sh" in files else None
    sources = gather(Project(root), script, ()).hold(chosen)
    return conflicts(sources, environment.at(root / "venv"))


BASE = '[project]\nname = "p"\ndependencies = ["torch>=2.6"]\n[project.optional-dependencies]\n'


@pytest.mark.parametrize(
    "files",
    [
        {"requirements.txt": "torch>=2\n", "setup.py": "setup(install_requires=['torch<3'])\n"},
        {
            "requirements.txt": "torch<2; python_version < '3'\n",
            "setup.py": "setup(install_requires=['torch>=2'])\n",
        },
        {"Dockerfile": "RUN pip install torch==2.5\n", "docker/Dockerfile": "RUN pip install torch==2.6\n"},
        {"requirements.txt": "torch>=2.6\n", "docker/Dockerfile.old": "RUN pip install torch==2.5\n"},
        {"pyproject.toml": BASE + 'old = ["vllm==0.8"]\nnew = ["vllm==0.9"]\n'},
        {"run.sh": "# torch==2.5\n# torch==2.6\nset -e\n"},
        {"requirements-npu.txt": "torch<2\n", "requirements.txt": "torch>=2\n"},
    ],
)
def test_alternatives_and_overlaps_are_no_conflict(write: Write, files: dict[str, str]) -> None:
    assert found(write, files) == Verdict()


def test_two_files_that_both_hold(write: Write) -> None:
    files = {"requirements.txt": "numpy\ntorch<2.5\n", "setup.py": "setup(install_requires=['torch>=2.6'])\n"}
    (statement,) = found(write, files).mismatches

    assert (
        statement.message
        == "torch: setup.py:1 asks for >=2.6, requirements.txt:2 for <2.5: no version fits both"
    )
    assert [str(place) for place in statement.places] == ["setup.py:1", "requirements.txt:2"]


def test_an_extra_that_its_own_package_excludes(write: Write) -> None:
    files = {"pyproject.toml": BASE + 'old = ["torch==2.5"]\n'}
    (statement,) = found(write, files).mismatches

    assert "pyproject.toml:5 (extra old) for ==2.5" in statement.message


def test_one_place_against_several_is_one_statement(write: Write) -> None:
    files = {
        "setup.py": "setup(install_requires=['torch>=2.6'])\n",
        "requirements.txt": "torch>=2.6\n",
        "run.sh": "# requires torch==2.4\nset -e\n",
    }
    (statement,) = found(write, files).mismatches

    assert (
        statement.message
        == "torch: run.sh:1 asks for ==2.4, setup.py:1, requirements.txt:1 for >=2.6: no version fits both"
    )


def test_a_further_requirements_file_is_a_note_until_it_is_chosen(write: Write) -> None:
    files = {"requirements.txt": "torch>=2.6\n", "requirements-dev.txt": "torch<2.5\n"}

    assert [len(part) for part in (found(write, files).mismatches, found(write, files).notes)] == [0, 1]
    assert len(found(write, files, "requirements-dev.txt").mismatches) == 1


def test_what_uv_overrides_is_a_note(write: Write) -> None:
    table = '[project]\nname = "p"\ndependencies = ["torch>=2.6"]\n[tool.uv]\noverride-dependencies = ["torch==2.5"]\n'
    verdict = found(write, {"pyproject.toml": table, "requirements.txt": "torch<2.5\n"})

    assert (len(verdict.mismatches), len(verdict.notes)) == (0, 1)


def test_a_setup_py_that_is_out_of_step_is_a_note(write: Write) -> None:
    setup = "setup(install_requires=['torch<2'], extras_require={'a': ['vllm==0.8'], 'b': ['ray<1']})\n"
    table = BASE + 'a = ["vllm==0.9", "ray>2"]\n'
    verdict = found(write, {"pyproject.toml": table, "setup.py": setup})

    assert verdict.mismatches == ()
    assert [statement.message for statement in verdict.notes] == [
        "torch: pyproject.toml:3 asks for >=2.6, setup.py:1 (overridden by pyproject.toml) for <2: no version fits both",
        "vllm: pyproject.toml:5 (extra a) asks for ==0.9, setup.py:1 (overridden by pyproject.toml) for ==0.8: "
        "no version fits both",
    ]
