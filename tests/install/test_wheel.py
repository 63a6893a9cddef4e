"""The package as pip installs it: its front doors, its plugin, and a ``checks`` package of the user's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.install

ROOT = Path(__file__).parents[2]
CLEAN = "python3 train.py\n"
MINE = "NAME = 'mine'\n"
PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "mine-{kind}"
version = "1"
[tool.hatch.build.targets.wheel]
packages = ["checks"]
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel of this repository, of the example plugin, and pytest."""
    folder = tmp_path_factory.mktemp("installed")
    wheels = folder / "wheels"
    for source in (ROOT, ROOT / "examples/plugin"):
        _run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), str(source)])
    _run([sys.executable, "-m", "venv", str(folder / "venv")])
    packages = [*map(str, sorted(wheels.glob("*.whl"))), "pytest", "validate-pyproject", "hatchling"]
    _python(folder / "venv", "-m", "pip", "install", "-q", *packages)
    return folder / "venv"


def _run(call: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=clean, **options)  # type: ignore[call-overload]
    assert done.returncode in (0, 1), done.stderr
    return done  # type: ignore[no-any-return]


def _python(environment: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return _run([str(environment / "bin/python"), *arguments], cwd=cwd)


def _repository(folder: Path) -> Path:
    (folder / "examples").mkdir(exist_ok=True)
    (folder / "examples/run_a_vllm_fsdp.sh").write_text(CLEAN)
    (folder / "example-sanity.toml").write_text("")
    return folder


@pytest.mark.parametrize(
    "door", [["-m", "checks.naming"], ["-m", "checks", "naming"], ["-m", "example_sanity", "naming"]]
)
def test_the_front_doors_work(environment: Path, tmp_path: Path, door: list[str]) -> None:
    done = _python(environment, *door, "examples", "--format", "concise", cwd=_repository(tmp_path))

    assert done.stdout.startswith("examples/run_a_vllm_fsdp.sh:1:1: error NAM002 forbidden-token")


def test_the_plugins_are_found(environment: Path, tmp_path: Path) -> None:
    """Ours for pytest and validate-pyproject, and one that is ours to find."""
    root = _repository(tmp_path)
    (root / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\n[tool.example-sanity]\nexclud = []\n"
    )

    assert "ACM001  checkpoint-in-tmp" in _python(environment, "-m", "example_sanity", "rules").stdout
    items = _python(
        environment, "-m", "pytest", "--example-sanity-only", "--collect-only", "-q", cwd=root
    ).stdout
    assert "examples/run_a_vllm_fsdp.sh::naming\n" in items
    assert "examples/run_a_vllm_fsdp.sh::storage\n" in items
    assert "exclud" in _python(environment, "-m", "validate_pyproject", "pyproject.toml", cwd=root).stderr


@pytest.mark.parametrize("regular", [True, False], ids=["regular", "namespace"])
@pytest.mark.parametrize("installed", [False, True], ids=["folder", "installed"])
def test_a_checks_package_of_the_users_own_keeps_working(
    environment: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    regular: bool,
    installed: bool,
) -> None:
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks/mine.py").write_text(MINE)
    if regular:
        (tmp_path / "checks/__init__.py").write_text("")
    if not installed:
        assert _mine(environment, tmp_path) == "mine\n"
        return
    kind = "regular" if regular else "namespace"
    (tmp_path / "pyproject.toml").write_text(PYPROJECT.format(kind=kind))
    elsewhere = _repository(tmp_path_factory.mktemp("elsewhere"))
    _python(environment, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", str(tmp_path))
    try:
        assert _mine(environment, elsewhere) == "mine\n"
        done = _python(environment, "-m", "checks.naming", "examples", "--format", "concise", cwd=elsewhere)
        assert "NAM002" in done.stdout
    finally:
        _python(environment, "-m", "pip", "uninstall", "-q", "-y", f"mine-{kind}")


def _mine(environment: Path, folder: Path) -> str:
    return _python(environment, "-c", "import checks.mine; print(checks.mine.NAME)", cwd=folder).stdout
