"""What a report says of packages that every process compiles anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.site import site, virtual_environment
from example_sanity.smoke.imports import notes
from smoke.runs import STEPS, launch, plan


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The site-packages of an environment whose python3 is the first on PATH."""
    environment = virtual_environment(tmp_path / "venv")
    (environment / "bin").mkdir()
    (environment / "bin/python3").write_text('#!/bin/sh\nexec "$REAL" "$@"\n')
    (environment / "bin/python3").chmod(0o755)
    for name in ("PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(environment / "bin"))
    return site(environment)


def fill(packages: Path) -> None:
    (packages / "vllm").mkdir()
    for number in range(60):
        (packages / f"vllm/m{number}.py").touch()


def test_an_environment_without_large_packages_starts_fast(packages: Path) -> None:
    assert list(notes(plan())) == []


def test_packages_without_bytecode_are_noted_with_the_command(packages: Path) -> None:
    fill(packages)
    (note,) = notes(plan())

    assert note.startswith(f"vllm in {packages} has no .pyc files")
    assert note.endswith(f"once: python3.12 -m compileall -q -j 0 {packages}")


def test_that_none_are_written_is_noted(packages: Path) -> None:
    (note,) = notes(plan(environment={"PYTHONDONTWRITEBYTECODE": "1"}))

    assert note.startswith("PYTHONDONTWRITEBYTECODE is set")


def test_another_place_for_them_is_not_looked_at(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(packages)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "/elsewhere")

    assert list(notes(plan())) == []


def test_a_python_behind_a_wrapper_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python3").write_text("#!/bin/sh\n")
    (tmp_path / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)

    assert list(notes(plan())) == []


def test_the_report_of_a_run_has_them(
    tmp_path: Path, own_python: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    result = launch(tmp_path, {"train.py": STEPS})

    assert any(note.startswith("PYTHONDONTWRITEBYTECODE is set") for note in result.notes)
