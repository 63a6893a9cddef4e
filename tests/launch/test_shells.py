"""One interpreter serves many runs, and nothing of one reaches the next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bashkit
import pytest

from example_sanity.launch import shells
from example_sanity.launch.evaluator import evaluate
from example_sanity.launch.scenario import Scenario
from example_sanity.launch.syntax import parse
from helpers import Write

SHOW = 'python show "${LEFT-none}" "${GIVEN-none}" "$(cat /notes 2>/dev/null)" "$(pwd)" "$-" "$(trap)"\n'


@pytest.fixture(autouse=True)
def _none_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shells, "_idle", [])


def words(text: str, environment: dict[str, str], root: Path | None = None) -> list[tuple[str, ...]]:
    launch = evaluate(parse("run.sh", text.encode()), Scenario(environment=environment), root)
    assert launch.failure is None
    return [command.argv for command in launch.commands]


def made(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Note each interpreter that is made."""
    found: list[object] = []
    original = bashkit.Bash

    def bash(**options: Any) -> bashkit.Bash:
        found.append(options["env"])
        return original(**options)

    monkeypatch.setattr(bashkit, "Bash", bash)
    return found


def test_a_run_leaves_nothing_behind(write: Write) -> None:
    root = write({"notes": "as on disk\n"})
    fresh = words(SHOW, {}, root)
    spoil = (
        "export LEFT=1; set -u; cd /tmp; trap 'python bye' EXIT\n"
        "python() { :; }\necho changed > /notes\nalias python=:\n"
    )
    evaluate(parse("run.sh", spoil.encode()), Scenario(environment={"GIVEN": "2"}), root)
    assert words(SHOW, {}, root) == fresh


def test_scenarios_share_an_interpreter(monkeypatch: pytest.MonkeyPatch, write: Write) -> None:
    root = write({"x": ""})
    found = made(monkeypatch)
    seen = [words('python "$A"\n', {"A": value}, root) for value in ("1", "two words", "$(x) 'y'")]
    assert seen == [[("python", "1")], [("python", "two words")], [("python", "$(x) 'y'")]]
    assert len(found) == 1


def test_a_changed_file_is_seen_by_the_next_run(write: Write) -> None:
    root = write({"notes": "first\n"})
    assert words('python "$(cat notes)"\n', {}, root) == [("python", "first")]
    write({"notes": "second\n"})
    assert words('python "$(cat notes)"\n', {}, root) == [("python", "second")]


@pytest.mark.parametrize(
    "environment",
    [
        {"PLAIN": "a b\n'c'"},
        {"EMPTY": ""},
        {"PATH": "/nowhere"},
        {"IFS": ","},
        {"HOME": "/root"},
        {"UID": "0"},
        {"with.dot": "1"},
        {"ACCENT": "é"},
    ],
    ids=lambda given: next(iter(given)),
)
def test_an_environment_is_the_same_from_the_start_or_exported(environment: dict[str, str]) -> None:
    text = 'set -u\npython $PATH "$HOME" "$UID" "${PLAIN-}${EMPTY-}${ACCENT-}" a,b\nenv | sort | python -\n'
    alone = shells.Shell((None, ("python",), tuple(environment.items())))
    exports, rest = shells.exported(environment)
    shared = shells.Shell((None, ("python",), rest))
    assert called(shared, exports, text) == called(alone, "", text)
    assert len(called(alone, "", text)) == 2


def called(shell: shells.Shell, before: str, text: str) -> list[object]:
    calls: list[object] = []

    def note(context: Any) -> str:
        calls.append((context.argv, context.env, context.stdin))
        return ""

    shell.answer = note
    shell.bash.fs().write_file("/run.sh", text.encode())
    shell.bash.execute_sync(f"{before}bash run.sh")
    return calls


def test_a_run_that_hit_a_limit_gives_nothing_back() -> None:
    evaluate(parse("run.sh", b"while :; do :; done\n"), Scenario(), None)
    assert shells._idle == []
    words("python x\n", {})
    assert len(shells._idle) == 1


def test_few_interpreters_are_kept() -> None:
    for number in range(20):
        words(f"tool{number} x\n", {})
    assert len(shells._idle) <= 6
