"""What Ray's own log adds to the cause, and the logs of Ray that add nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from example_sanity.smoke.cause_table import CAUSES, RAY_NOT_UP
from example_sanity.smoke.causes import Evidence, search
from example_sanity.smoke.raylet import explained, session_log
from example_sanity.smoke.running import read_log
from smoke.runs import plan

EVIDENCE = Evidence("ray-not-up", "Ray did not come up", "look")
PORT = (
    "[2026-12-01 13:22:40,123 C 812 812] (raylet) agent_manager.cc:99: Timed out waiting for file "
    "/tmp/ray/session_1/metrics_agent_port_ab12"
)
HARMLESS = "[2026-12-01 13:22:39,123 I 812 812] (raylet) main.cc:1: started"
OTHER = "[2026-12-01 13:22:40,123 E 812 812] (raylet) store.cc:7: No space for the object store"


def session(folder: Path, *lines: str) -> dict[str, str]:
    path = session_log({"RAY_TMPDIR": str(folder)})
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines))
    return {"RAY_TMPDIR": str(folder)}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "run.log"
    path.write_text("Exception: The current node timed out during startup.\n")
    return path


def test_no_session_adds_nothing(tmp_path: Path, log: Path) -> None:
    assert explained(EVIDENCE, log, {"RAY_TMPDIR": str(tmp_path)}) == EVIDENCE


def test_a_session_without_a_grave_line_adds_nothing(tmp_path: Path, log: Path) -> None:
    assert explained(EVIDENCE, log, session(tmp_path, HARMLESS, "\x00\xff")) == EVIDENCE


def test_a_session_of_another_time_adds_nothing(tmp_path: Path, log: Path) -> None:
    environment = session(tmp_path, PORT)
    os.utime(log, (1e9, 1e9))

    assert explained(EVIDENCE, log, environment) == EVIDENCE


def test_an_agent_that_did_not_write_its_port_was_too_slow(tmp_path: Path, log: Path) -> None:
    found = explained(EVIDENCE, log, session(tmp_path, HARMLESS, PORT, OTHER))

    assert found.message == (
        "Ray did not come up: Timed out waiting for file /tmp/ray/session_1/metrics_agent_port_ab12 "
        f"({tmp_path}/ray/session_latest/logs/raylet.out)"
    )
    assert "time python3 -c pass" in found.advice
    assert "sitecustomize.py" in found.advice


def test_any_other_grave_line_is_told_with_the_general_advice(tmp_path: Path, log: Path) -> None:
    found = explained(EVIDENCE, log, session(tmp_path, OTHER, HARMLESS))

    assert found.message.startswith("Ray did not come up: No space for the object store (")
    assert found.advice == "look"


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({}, "/tmp"),
        ({"TMPDIR": "/scratch"}, "/scratch"),
        ({"TMPDIR": "/scratch", "RAY_TMPDIR": "/ray"}, "/ray"),
    ],
)
def test_the_folder_is_the_one_that_ray_chooses(
    environment: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")

    assert session_log(environment) == Path(folder) / "ray/session_latest/logs/raylet.out"


def test_a_judged_log_has_what_the_raylet_said(tmp_path: Path, log: Path) -> None:
    found = read_log(plan(environment=session(tmp_path, PORT)), log)

    assert found.verdict == "could-not-start"
    assert found.cause is not None
    assert "metrics_agent_port_ab12" in found.cause.message


def test_the_general_advice_names_the_slow_start() -> None:
    found = search([PORT], CAUSES)

    assert found is not None
    assert found.cause == RAY_NOT_UP
    assert "sitecustomize.py" in found.evidence.advice
