"""What goes wrong although it is installed as asked for. What is right comes first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from doctor.site import install, site, virtual_environment
from example_sanity.doctor.bytecode import compiling, uncompiled
from example_sanity.doctor.environment import Environment, at
from example_sanity.doctor.findings import Kind, Statement
from example_sanity.doctor.gpus import Gpus
from example_sanity.doctor.traps import traps

HOPPER = Gpus(("NVIDIA H200",))


@pytest.fixture(autouse=True)
def written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python writes .pyc files, unless a test says otherwise."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    return site(virtual_environment(tmp_path / "venv"))


def notes(packages: Path, gpus: Gpus = HOPPER, folders: Sequence[Path] = ()) -> list[Statement]:
    found = traps(at(packages), gpus, folders)
    assert found.mismatches == ()
    return list(found.notes)


def stack(packages: Path, triton: str = "3.6.0", fla: str = "0.6.0") -> None:
    install(packages, "triton", triton)
    install(packages, "fla-core", fla, files=["fla/__init__.py"])


@pytest.mark.parametrize("triton", ["3.3.1", "3.7.1", "3.9.0"])
def test_other_versions_of_triton_are_right(packages: Path, triton: str) -> None:
    stack(packages, triton)

    assert notes(packages) == []


def test_other_gpus_are_right(packages: Path) -> None:
    stack(packages)

    assert notes(packages, Gpus(("NVIDIA B200", "NVIDIA A100-SXM4-80GB"))) == []


def test_with_tilelang_it_is_right(packages: Path) -> None:
    stack(packages)
    install(packages, "tilelang", "0.1.15")

    assert notes(packages) == []


def test_with_tilelang_in_a_folder_of_the_launcher_it_is_right(packages: Path, tmp_path: Path) -> None:
    stack(packages)
    install(tmp_path / "extra", "tilelang", "0.1.15")

    assert notes(packages, folders=[tmp_path / "extra"]) == []


def test_without_flash_linear_attention_nothing_is_said(packages: Path) -> None:
    install(packages, "triton", "3.6.0")

    assert notes(packages) == []


@pytest.mark.parametrize(
    ("gpus", "where"),
    [
        (HOPPER, "these Hopper GPUs"),
        (Gpus(("NVIDIA GH200 480GB",)), "these Hopper"),
        (Gpus(), "on Hopper GPUs"),
    ],
)
def test_triton_on_hopper_is_told(packages: Path, gpus: Gpus, where: str) -> None:
    stack(packages)
    (found,) = notes(packages, gpus)

    assert (found.kind, found.name) == (Kind.COMBINATION, "fla-core")
    assert where in found.message
    assert "gated delta nets (Qwen3.5, Qwen3-Next) of fla-core 0.6.0 have wrong gradients" in found.message
    assert found.message.endswith("so its backward pass ends with an exception")
    assert found.fix is not None
    assert found.fix.startswith("pip install tilelang")


def test_older_ones_do_not_even_refuse(packages: Path) -> None:
    stack(packages, "3.4.0", "0.4.0")
    (found,) = notes(packages)

    assert found.message.endswith("and it trains with them")


def modules(packages: Path, name: str, count: int, compiled: int, tag: str = "cpython-312") -> None:
    """Write a package with so many modules, half of them in a folder below, and .pyc files for some."""
    for number in range(count):
        folder = packages / name / ("" if number % 2 else "inner")
        (folder / "__pycache__").mkdir(parents=True, exist_ok=True)
        (folder / f"m{number}.py").touch()
        if number < compiled:
            (folder / "__pycache__" / f"m{number}.{tag}.pyc").touch()


@pytest.mark.parametrize(
    ("name", "count", "compiled"), [("torch", 60, 60), ("torch", 60, 30), ("torch", 20, 0), ("small", 90, 0)]
)
def test_what_is_compiled_or_small_or_rarely_imported_is_right(
    packages: Path, name: str, count: int, compiled: int
) -> None:
    modules(packages, name, count, compiled)

    assert notes(packages) == []


@pytest.mark.parametrize(("compiled", "tag"), [(0, "cpython-312"), (29, "cpython-312"), (60, "cpython-311")])
def test_large_packages_without_bytecode_are_told(packages: Path, compiled: int, tag: str) -> None:
    modules(packages, "vllm", 60, compiled, tag)
    modules(packages, "torch", 60, 0)
    (found,) = notes(packages)

    assert (found.kind, found.name) == (Kind.BYTECODE, "torch")
    assert found.message.startswith(f"torch, vllm in {packages} have no .pyc files (uv writes none")
    assert "PYTHONDONTWRITEBYTECODE" not in found.message
    assert found.fix == f"python3.12 -m compileall -q -j 0 {packages}"


def test_and_that_none_are_ever_written(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules(packages, "vllm", 60, 0)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (found,) = notes(packages)

    assert found.message.endswith("since PYTHONDONTWRITEBYTECODE is set")


def test_the_command_names_each_folder_once(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    modules(first, "torch", 60, 0)
    modules(first, "vllm", 60, 0)
    modules(second, "ray", 60, 0)
    here = Environment([first, second], "3.12", tmp_path)

    assert compiling(here, uncompiled(here)) == f"python3.12 -m compileall -q -j 0 {first} {second}"
