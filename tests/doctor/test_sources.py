"""Which files count, for which launcher, and what ``--with`` adds."""

from __future__ import annotations

import pytest

from example_sanity.core.errors import UsageError
from example_sanity.core.project import Project
from example_sanity.doctor.sources import Sources, gather, used_extras
from example_sanity.launch.syntax import parse
from helpers import Write

PYPROJECT = """\
[project]
name = "demo"
dependencies = ["torch"]
[project.optional-dependencies]
vllm = ["vllm>=0.8", "demo[core]"]
core = ["numpy"]
gpu = ["liger-kernel"]
"""


def of(write: Write, files: dict[str, str], script: str | None = None) -> Sources:
    root = write(files)
    syntax = parse(script, files[script].encode()) if script else None
    return gather(Project(root), syntax, ())


def held(sources: Sources) -> list[str]:
    return [f"{item.place} {item.name}" for item in sources.asked if item.held]


def test_a_repository_that_asks_for_nothing(write: Write) -> None:
    assert of(write, {"run.sh": "set -e\n"}, "run.sh") == Sources((), frozenset())


def test_default_names_count_and_variants_do_not(write: Write) -> None:
    files = {
        "requirements.txt": "a\n",
        "requirements-npu.txt": "b\n",
        "requirements/dev.txt": "c\n",
        "constraints.txt": "d\n",
        "Dockerfile": "RUN pip install e\n",
        "docker/Dockerfile": "RUN pip install f\n",
        "docker/Dockerfile.rocm": "RUN pip install g\n",
        "REQUIRED_H.txt": "h==1\n",
        "sub/requirements.txt": "i\n",
    }
    sources = of(write, files)

    assert held(sources) == [
        "REQUIRED_H.txt:1 h",
        "requirements.txt:1 a",
        "Dockerfile:1 e",
        "docker/Dockerfile:1 f",
    ]
    assert {item.name: item.platform for item in sources.asked if item.platform} == {"b": "npu", "g": "rocm"}


def test_folders_above_the_launcher_count_for_it(write: Write) -> None:
    files = {
        "examples/retool/requirements.txt": "jinja2\n",
        "examples/other/requirements.txt": "psutil\n",
        "examples/retool/run.sh": "# requires vllm>=0.8\nset -e\n",
    }

    assert held(of(write, files)) == []
    assert held(of(write, files, "examples/retool/run.sh")) == [
        "examples/retool/requirements.txt:1 jinja2",
        "examples/retool/run.sh:1 vllm",
    ]


def test_the_project_itself_is_not_asked_for_but_its_extras_are_composed(write: Write) -> None:
    sources = of(write, {"pyproject.toml": PYPROJECT})

    assert held(sources) == ["pyproject.toml:3 torch"]
    assert held(sources.hold(["vllm"])) == [
        "pyproject.toml:3 torch",
        "pyproject.toml:5 vllm",
        "pyproject.toml:6 numpy",
    ]
    assert sources.own == {"demo"}


def test_an_unknown_source_is_a_usage_error_with_the_nearest(write: Write) -> None:
    with pytest.raises(UsageError, match=r"--with vlm: no extra, .* \(did you mean 'vllm'\?\)"):
        of(write, {"pyproject.toml": PYPROJECT}).hold(["vlm"])


def test_what_is_chosen_must_be_there_and_holds_on_every_platform(write: Write) -> None:
    files = {
        "requirements-npu.txt": "torch-npu\n",
        "docker/Dockerfile.x": "RUN pip install a==1\n",
        "constraints.txt": "c<2\n",
    }
    sources = of(write, files).hold(list(files))

    assert {item.name: (item.present, item.platform) for item in sources.asked} == {
        "torch-npu": (True, None),
        "a": (True, None),
        "c": (False, None),
    }


def test_setup_py_counts_only_for_what_pyproject_leaves_to_it(write: Write) -> None:
    setup = "setup(install_requires=['a'], extras_require={'x': ['b']})\n"
    table = '[project]\nname = "demo"\ndynamic = ["dependencies"]\n'
    sources = of(write, {"setup.py": setup, "pyproject.toml": table})

    assert [(item.name, item.kind) for item in sources.asked] == [("a", "setup.py"), ("b", "overridden")]
    assert sources.named == ("setup.py",)
    assert held(of(write, {"pyproject.toml": "[build-system]\n", "setup.py": setup})) == ["setup.py:1 a"]


def test_a_requirements_file_that_setup_py_reads_counts_once(write: Write) -> None:
    files = {"setup.py": "setup(install_requires=read('requirements.txt'))\n", "requirements.txt": "a\n"}

    assert held(of(write, files)) == ["requirements.txt:1 a"]


def test_an_extra_is_used_where_a_launch_names_the_distribution(write: Write) -> None:
    sources = of(write, {"pyproject.toml": PYPROJECT})

    assert used_extras(sources.asked, {"vllm", "gpu", "core"}) == {"vllm"}
    assert used_extras(sources.asked, {"sglang"}) == frozenset()


def test_the_header_outranks_an_extra_that_is_only_used(write: Write) -> None:
    files = {"pyproject.toml": PYPROJECT, "run.sh": "# vllm==0.7.3\nset -e\n"}
    sources = of(write, files, "run.sh")

    assert held(sources.hold([], ["vllm"])) == [
        "pyproject.toml:3 torch",
        "pyproject.toml:6 numpy",
        "run.sh:1 vllm",
    ]
    assert "pyproject.toml:5 vllm" in held(sources.hold(["vllm"], ["vllm"]))
