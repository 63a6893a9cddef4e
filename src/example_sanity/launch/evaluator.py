"""The seam behind which a launcher gets its meaning: ``evaluate(script, scenario) -> Launch``.

Nothing here raises for what a script does; a script that could not be evaluated has a ``failure``.
"""

from __future__ import annotations

import shlex
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from example_sanity.core.regex import regex
from example_sanity.launch import normalise, sandbox, world
from example_sanity.launch.command import Launch
from example_sanity.launch.guardruns import GuardRun, guard_runs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tree_sitter import Tree

    from example_sanity.launch.scenario import Scenario
    from example_sanity.launch.syntax import Script

__all__ = ["GuardRun", "evaluate", "guard_runs", "syntax_error", "words"]

ROUNDS = 3
_SENTINELS = regex(
    "[\ue000-\ue00f\ufdd0-\ufddf]"
)  # bashkit's own marks: in a word they mean that it misread one
_ASSIGNED = regex(r"(?<![\w$.-])([A-Za-z_]\w*)\+?=(?!=)(\()?")


def evaluate(
    script: Script,
    scenario: Scenario,
    root: Path | None = None,
    engine: str = "bashkit",
    unknown: str = "",
) -> Launch:
    """Return what ``script`` would run under ``scenario``.

    ``root`` is the project folder that the script sees as ``/`` and starts in (None: an empty one). ``engine`` is
    ``bashkit`` (in this process, nothing runs) or ``bash`` (the real one, in namespaces of its own, Linux only).
    ``unknown`` is what commands print of which nobody knows the output (``python -c``, ``git describe``).
    Raises ValueError for another engine; for what the script does never: then ``failure`` says why, and ``limit``
    whether it was a limit on time, memory, commands or output.
    """
    if engine == "bash":
        from example_sanity.launch import realbash

        return realbash.evaluate(script, scenario, root)
    if engine != "bashkit":
        raise ValueError(f"unknown engine {engine!r}: expected 'bashkit' or 'bash'")
    box = _evaluated(script, scenario, root, unknown)
    return _failed(script, scenario, box) if isinstance(box, str) else _launch(script, scenario, box)


def words(
    script: Script, scenario: Scenario, root: Path | None, engine: str = "bashkit", unknown: str = ""
) -> list[tuple[str, ...]] | None:
    """Return the words of each command that ``evaluate`` would find, None where nothing may be concluded from the run.

    Where only that counts, nobody has to look for the places that the words came from.
    """
    if engine != "bashkit":
        launch = evaluate(script, scenario, root, engine, unknown)
        return [command.argv for command in launch.commands] if launch.failure is None else None
    box = _evaluated(script, scenario, root, unknown)
    if isinstance(box, str) or _failure(script, box) is not None:
        return None
    return [record.argv for record in box.commands]


def _evaluated(script: Script, scenario: Scenario, root: Path | None, unknown: str) -> sandbox.Sandbox | str:
    """Return the sandbox after the run, or why there could be none."""
    reason = sandbox.unreadable(script.data) or sandbox.too_deep(script.text)
    if reason is not None:
        return reason
    names = _missing(normalise.normalise(script.text, "0").names, root)
    for _ in range(ROUNDS):
        try:
            box = _run(script, scenario, root, names, unknown)
        except OSError as error:
            return str(error)
        missing = {*_missing(box.wanted, root), *sandbox.unknown_commands(box.outcome.stderr)} - {*box.names}
        missing -= world.absent(scenario.probes) | names
        if not missing:
            break
        names |= missing
    return box


def syntax_error(script: Script) -> str | None:
    """Return what bash's grammar has against the script, with the line, or None when it parses."""
    if sandbox.unreadable(script.data) or sandbox.too_deep(script.text):
        return None
    # the sandbox's grammar has a gap or two that the rewritten text does not meet
    error = sandbox.syntax_error(script.text)
    if error is None:
        return _open_array(script)
    return sandbox.syntax_error(normalise.normalise(script.text, "0").text) and error


def _open_array(script: Script) -> str | None:
    """Return the error of an array that nothing closes, which the sandbox's grammar lets end with the file."""
    waiting = [cast("Tree", script.tree).root_node] if script.errors else []
    while waiting:
        node = waiting.pop()
        if node.type == "array" and node.children[-1].is_missing:
            line = script.data.count(b"\n", 0, node.start_byte) + 1
            column = node.start_byte - script.data.rfind(b"\n", 0, node.start_byte)
            return f"line {line}, column {column}: unexpected EOF while looking for matching `)'"
        waiting += [child for child in node.children if child.has_error]
    return None


def _missing(names: Iterable[str], root: Path | None) -> set[str]:
    """Return the commands that the project cannot hold itself. A relative path is only known once it was missing."""
    return {name for name in names if "/" not in name or _is_foreign_path(name, root)}


def _is_foreign_path(name: str, root: Path | None) -> bool:
    """Whether an absolute path names neither a file of the project nor one of the tools that the sandbox has."""
    folder, _, base = name.rpartition("/")
    if folder in ("/bin", "/usr/bin") and base in world.NATIVE:
        return False
    return name.startswith("/") and not (root is not None and (root / name[1:]).exists())


def _run(
    script: Script, scenario: Scenario, root: Path | None, names: set[str], unknown: str
) -> sandbox.Sandbox:
    environment = {**scenario.environment, **scenario.placeholders}
    box = sandbox.Sandbox(root, environment, scenario.probes, names, unknown)
    path = "/" + script.path.lstrip("/")
    box.add_script(path, script.text, prelude(script, unknown))
    box.run(" ".join(["bash", shlex.quote(script.path), *map(shlex.quote, scenario.arguments)]))
    box.close()
    return box


def prelude(script: Script, unknown: str = "") -> str:
    """Return the shell text before the script: it hands the scalar variables over at the end, and seeds RANDOM."""
    seed = f"RANDOM={len(unknown) + 1}; " if "RANDOM" in script.text else ""
    return f"trap '{{ set +x; }} 2>/dev/null; {sandbox.END} {_handed_over(script.text)}' EXIT; " + seed


@lru_cache(maxsize=16)  # the scenarios of a script come one after the other
def _handed_over(text: str) -> str:
    found = [(match[1], match[2]) for match in _ASSIGNED.finditer(text)]
    names = sorted({name for name, _ in found} - {name for name, is_array in found if is_array})
    return " ".join(f'{name} "${{{name}+x}}" "${{{name}-}}"' for name in names)


def _failed(script: Script, scenario: Scenario, reason: str) -> Launch:
    return Launch(script, scenario, (), (), 1, "", "", {}, failure=reason)


def _launch(script: Script, scenario: Scenario, box: sandbox.Sandbox) -> Launch:
    from example_sanity.launch import provenance
    from example_sanity.launch.entry import entries

    outcome = box.outcome
    commands = provenance.locate(script, box.files, box.commands)
    return Launch(
        script=script,
        scenario=scenario,
        commands=commands,
        entries=entries(commands),
        status=outcome.status,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        variables=box.variables,
        failure=_failure(script, box),
        limit=outcome.limit,
        uncertain=box.uncertain,
    )


def cut_short(script: Script, status: int) -> str | None:
    """Return the syntax error at which bash stopped reading the script, or None. What stood before it did run."""
    error = syntax_error(script) if status else None
    return error and f"bash cannot parse the script: {error}"


def _failure(script: Script, box: sandbox.Sandbox) -> str | None:
    """Return why nothing may be concluded from a run, or None. A status other than 0 is no such reason."""
    if box.outcome.error is not None:
        return box.outcome.error
    if box.outcome.problems:
        return box.outcome.problems[0]
    broken = cut_short(script, box.outcome.status)
    if broken:
        return broken
    for command in box.commands:
        if any(not word.isascii() and _SENTINELS.search(word) for word in command.argv):
            return f"the sandbox misread a word of {command.argv[0]}"
    return None
