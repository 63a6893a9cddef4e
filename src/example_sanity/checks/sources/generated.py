"""SRC008: generated files that are not what their command writes today."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from example_sanity.checks.sources import base
from example_sanity.core.finding import Severity, Span
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.trace import MOMENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.checks.sources.options import Generated
    from example_sanity.core.finding import Finding
    from example_sanity.core.project import Project
    from example_sanity.core.rule import Context

_CONFIG = '[[sources.generated]]\nfiles = ["reference.yaml"]\ncommand = "sh generate.sh"\n'


class GeneratedFileStale(Rule):
    """A generated file is not what its command writes today.

    ``[[tool.example-sanity.sources.generated]]`` names the files and the command. The command is code of the checked repository,
    so it runs only when the call says ``--allow-commands``; without it, that nothing was compared is said once, as info.
    It runs in a scratch copy of the repository (what git lists, staged in a repository of its own), so the working tree is
    never written to. A command that fails without having changed the files is a finding too.
    """

    code = "SRC008"
    name = "generated-file-stale"
    summary = "a generated file is not what its command writes"
    subject = Subject.PROJECT
    source = "verl .pre-commit-config.yaml, autogen-trainer-cfg"
    bad = (
        Example(
            "steps: 1\n",
            "reference.yaml",
            {"generate.sh": "echo steps: 2 > reference.yaml\n", "example-sanity.toml": _CONFIG},
        ),
    )
    good = (Example("steps: 1\n", "reference.yaml"),)

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether there are generated files."""
        return bool(base.options(context).generated)

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Run each command in a copy of its own, and compare."""
        del subject
        for item in base.options(context).generated:
            there = [path for path in item.files if path in context.project.all_files]
            if there and context.commands_allowed:
                context.project.watch(MOMENT)
                yield from self._compared(context.project, item)
            elif there:
                message = (
                    f"not compared with what {item.command!r} writes: that would run code of this repository; "
                    "if you trust it, add --allow-commands"
                )
                yield self.finding(there[0], Span(), message, severity=Severity.INFO)

    def _compared(self, project: Project, item: Generated) -> Iterator[Finding]:
        with tempfile.TemporaryDirectory(prefix="example-sanity-") as folder:
            root = Path(folder).resolve()
            _copy(project, root)
            failure = _run(item, root)
            stale = list(_differing(project, item, root))
        for path, line in stale:
            message = f"the file is not what {item.command!r} writes today; run that, and commit the result"
            yield self.finding(path, Span(line, 1, line, 1) if line else Span(), message)
        if failure and not stale:
            yield self.finding(
                item.files[0], Span(), f"{item.command!r} {failure}, so nothing could be compared"
            )


def _copy(project: Project, root: Path) -> None:
    """Copy what belongs to the project, and stage it: commands ask git what changed."""
    # Links stay links: what they lead to outside is not to be copied, nor written through.
    for path in project.all_files:
        source, target = project.root / path, root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
    for command in (["git", "init", "-q"], ["git", "add", "-A"]):
        subprocess.run(command, cwd=root, capture_output=True, check=False)


def _run(item: Generated, root: Path) -> str:
    """Run the command; return how it failed, or an empty string."""
    try:
        process = subprocess.Popen(
            shlex.split(item.command),
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PWD": str(root)},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return f"could not start ({error})"
    try:
        _, said = process.communicate(timeout=item.timeout)
    except subprocess.TimeoutExpired:
        # The command may have started others, which would go on in a folder that is gone.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"did not end within {item.timeout:g} s"
    # Many such scripts fail on purpose when something changed, so the files are compared first.
    if not process.returncode:
        return ""
    last = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"failed with status {process.returncode}" + (f" ({last})" if last else "")


def _differing(project: Project, item: Generated, root: Path) -> Iterator[tuple[str, int]]:
    """The files that are not as written, and the first line that differs (0 for a file that is missing)."""
    for path in item.files:
        written = _bytes(root / path)
        present = _bytes(project.root / path)
        if written != present:
            yield path, _first_difference(present, written)


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _first_difference(one: bytes | None, other: bytes | None) -> int:
    if one is None or other is None:
        return 0
    pairs = zip(one.split(b"\n"), other.split(b"\n"), strict=False)
    shorter = min(one.count(b"\n"), other.count(b"\n")) + 1
    return next((number for number, (a, b) in enumerate(pairs, 1) if a != b), shorter)
