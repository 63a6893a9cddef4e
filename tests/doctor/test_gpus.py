"""The GPUs of this machine, as nvidia-smi tells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity.doctor.gpus import Gpus, visible


def smi(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Put an nvidia-smi of our own on the path."""
    folder.mkdir(exist_ok=True)
    (folder / "nvidia-smi").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def test_no_nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert visible() == Gpus(problem="no nvidia-smi on this machine")


def test_one_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    smi(tmp_path, monkeypatch, "echo 'no driver' >&2; exit 9")
    assert visible() == Gpus(problem="nvidia-smi failed: no driver")

    smi(tmp_path, monkeypatch, "exit 9")
    assert visible() == Gpus(problem="nvidia-smi failed: exit status 9")


@pytest.mark.parametrize(
    ("chosen", "count", "hidden"),
    [(None, 4, 0), ("0,1", 2, 2), ("", 0, 4), ("-1", 0, 4), ("0,7,1", 1, 3), ("GPU-1ab2,GPU-3cd4", 2, 2)],
)
def test_the_names_that_cuda_would_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str | None, count: int, hidden: int
) -> None:
    smi(tmp_path, monkeypatch, "for i in 0 1 2 3; do echo NVIDIA H100; done")
    if chosen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)

    assert visible() == Gpus(("NVIDIA H100",) * count, hidden)
