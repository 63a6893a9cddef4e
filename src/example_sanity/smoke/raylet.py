"""What Ray's own log says where Ray did not come up: that of the raylet of the newest session on this machine.

Sources: Ray 2.60, ``ray/_common/utils.py`` (the folder of sessions), and what its raylet prints where an agent has not written
its port into a file within 15 s.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from example_sanity.core.regex import regex
from example_sanity.smoke.causes import Evidence

# A session that was last written to so many seconds before or after the log is not of the same run.
_APART = 300.0
_TAIL_BYTES = 1 << 18
_WIDEST = 300
_AGENT = regex(r"Timed out waiting for file \S*?(?P<file>[^\s/]*_port_\w+)")
# [2026-12-01 13:22:40,123 C 812 812] (raylet) main.cc:1: text
_GRAVE = regex(r"^\[[^\]]* [EFC] \d+ \d+\] (?:\(raylet\) )?\S+:\d+: +(?P<text>\S.*)")
_SLOW = (
    "each Python process starts too slowly for the 15 s that Ray gives its agents: compare `time python3 -c pass` with and without "
    "the PYTHONPATH of the launcher. A sitecustomize.py on it that imports much has a switch, or goes (Megatron Lite's imports "
    "vLLM; VERL_MLITE_SKIP_RUNTIME_PATCHES=1 turns it off for the processes that do not need it)"
)


def session_log(environment: Mapping[str, str]) -> Path:
    """Return where the raylet of the newest session writes, as Ray itself chooses the folder."""
    folder = environment.get("RAY_TMPDIR")
    if folder is None and sys.platform.startswith("linux"):
        folder = environment.get("TMPDIR")
    return Path(folder or "/tmp") / "ray/session_latest/logs/raylet.out"


def explained(evidence: Evidence, log: Path, environment: Mapping[str, str]) -> Evidence:
    """Return the evidence with what the raylet says; unchanged where there is no log of it from the time of ``log``."""
    path = session_log(environment)
    said = _said(path, log)
    if said is None:
        return evidence
    message = f"{evidence.message}: {said} ({path})"
    return replace(evidence, message=message, advice=_SLOW if _AGENT.search(said) else evidence.advice)


def _said(path: Path, log: Path) -> str | None:
    """The last line about an agent that did not come, else the last grave one."""
    try:
        if abs(path.stat().st_mtime - log.stat().st_mtime) > _APART:
            return None
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            lines = file.read(_TAIL_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return None
    grave = [found["text"].strip()[:_WIDEST] for line in lines if (found := _GRAVE.match(line)) is not None]
    agents = [found[0] for line in lines if (found := _AGENT.search(line)) is not None]
    return next(iter([*agents[-1:], *grave[-1:]]), None)
