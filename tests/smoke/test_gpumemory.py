"""The memory of GPUs, with a stub of nvidia-smi, and the versions that a run had."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from example_sanity.doctor.gpus import Gpus
from example_sanity.smoke.gpumemory import MemoryWatch
from example_sanity.smoke.result import GpuMemory
from example_sanity.smoke.versions import versions
from smoke.runs import plan

# What it says at its first, its second and its further calls.
NVIDIA_SMI = """\
#!/usr/bin/env bash
echo "$*" > "$STUB/arguments"
echo >> "$STUB/calls"
case $(wc -l < "$STUB/calls") in
    1) printf '0, 10\\n1, 20\\n' ;;
    2) printf '0, 1234\\n1, 500\\n' ;;
    *) printf '0, [N/A]\\n1, 900\\n' ;;
esac
"""


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "nvidia-smi").write_text(NVIDIA_SMI)
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("STUB", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr("example_sanity.smoke.gpumemory._EVERY_SECONDS", 0.01)
    return tmp_path


def watched(stub: Path, calls: int = 1) -> GpuMemory | None:
    with MemoryWatch() as watch:
        while len((stub / "calls").read_text()) < calls:
            time.sleep(0.05)
    return watch.found


def test_without_nvidia_smi_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with MemoryWatch() as watch:
        pass

    assert watch.found is None


def test_the_fullest_gpu_counts(stub: Path) -> None:
    assert watched(stub, calls=3) == GpuMemory(10, 1234)
    assert "--id" not in (stub / "arguments").read_text()


def test_a_machine_whose_driver_does_not_answer(stub: Path) -> None:
    (stub / "nvidia-smi").write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n")
    with MemoryWatch() as watch:
        pass

    assert watch.found is None


@pytest.mark.parametrize(("visible", "option"), [("1,2", "--id=1,2"), ("GPU-3a", "--id=GPU-3a"), ("-1", "")])
def test_only_visible_gpus_are_asked(
    stub: Path, monkeypatch: pytest.MonkeyPatch, visible: str, option: str
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    watched(stub)

    assert [word for word in (stub / "arguments").read_text().split() if "--id" in word] == option.split()


def test_the_versions_are_those_of_the_python_of_the_launcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_python: None
) -> None:
    del own_python
    monkeypatch.setattr("example_sanity.doctor.gpus.visible", lambda: Gpus(("NVIDIA H200",)))
    for name, version in {"torch": "2.11.0", "Other": "1"}.items():
        folder = tmp_path / f"{name}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    found = versions(plan(environment={"PYTHONPATH": str(tmp_path)}))

    assert (found["torch"], found["gpu"], "Other" in found) == ("2.11.0", "1 x NVIDIA H200", False)


def test_without_python_no_version_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("example_sanity.doctor.gpus.visible", Gpus)
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3").chmod(0o755)

    assert versions(plan(environment={"PATH": str(tmp_path)})) == {}
