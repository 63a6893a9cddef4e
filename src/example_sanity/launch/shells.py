"""The interpreters of the sandbox, kept for the next run: to make one takes as long as to evaluate a short launcher."""

from __future__ import annotations

import contextlib
import re
import shlex
import threading
from typing import TYPE_CHECKING, Any

import bashkit

from example_sanity.core.regex import regex
from example_sanity.launch import world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

SECONDS = 2
MEMORY = 64 * 1024 * 1024  # bytes of the virtual file system; variables are held to 10 MB by bashkit itself
COMMANDS = 10_000
_MOST_IDLE = 6
# Scripts differ in the commands that they miss, so a few kinds are in use at a time; the newest is last.
_idle: list[Shell] = []
_lock = threading.Lock()  # the guard prover evaluates in threads
# What bash sets itself, or treats in a way of its own.
_OWN = regex(
    r"_|(?:BASH|COMP|EPOCH|HIST|HOST|LC_|OPT|PS\d|READLINE|SHELL)\w*|DIRSTACK|E?UID|FUNCNAME|GROUPS|HOME|IFS|LANG|LINENO"
    r"|MACHTYPE|MAPFILE|OLDPWD|OSTYPE|PATH|PIPESTATUS|PPID|PWD|REPLY|S?RANDOM|SECONDS|SHLVL|TIMEFORMAT|USER"
)
_NAME = regex(r"[A-Za-z_]\w*", re.ASCII)

Kind = tuple["Path | None", tuple[str, ...], tuple[tuple[str, str], ...]]


class Shell:
    """One interpreter. Its commands go to ``answer``, which belongs to the run that has it."""

    def __init__(self, kind: Kind) -> None:
        """Make an interpreter of a kind. Raises OSError when its root cannot be shown."""
        self.kind = kind
        self.answer: Callable[[Any], Any] | None = None
        root, names, environment = kind
        options: dict[str, Any] = {}
        if root is not None:
            options = {"mounts": [{"host_path": str(root)}], "allowed_mount_paths": [str(root)]}
        with refusals_as_os_errors():
            self.bash = bashkit.Bash(
                username="user",
                hostname=world.HOST,
                cwd="/",
                env={
                    "PATH": world.PATH,
                    "HOME": world.HOME,
                    "USER": "user",
                    **world.LOCALE,
                    **dict(environment),
                },
                max_commands=COMMANDS,
                max_memory=MEMORY,
                timeout_seconds=SECONDS,
                custom_builtins=dict.fromkeys(names, self._answer),
                **options,
            )
            if root is not None:
                _check_mount(self.bash, root)

    def _answer(self, context: Any) -> Any:
        assert self.answer is not None
        return self.answer(context)


def take(kind: Kind, answer: Callable[[Any], Any]) -> Shell:
    """Return an interpreter in which nothing has happened yet: it shows a root (None: nothing) at ``/``.

    A kind is that root, the names of the commands that ``answer`` is to give their results, and the environment beyond
    what every run gets. Raises OSError when the root cannot be shown.
    """
    with _lock:
        shell = next((shell for shell in _idle if shell.kind == kind), None)
        if shell is not None:
            _idle.remove(shell)
    if shell is None:
        shell = Shell(kind)
    else:
        shell.bash.reset()
    shell.answer = answer
    for folder in (world.HOME, "/tmp"):
        shell.bash.mkdir(folder, True)
    return shell


def give_back(shell: Shell) -> None:
    """Keep an interpreter for the next run of its kind. It holds nothing of the run that had it."""
    shell.answer = None
    with _lock:
        _idle.append(shell)
        del _idle[:-_MOST_IDLE]


def exported(environment: Mapping[str, str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the shell text that exports an environment, and what of it has to be there from the start instead.

    Scenarios differ in a variable or two, and one interpreter serves those that are exported.
    """
    plain = {name: value for name, value in environment.items() if _is_plain(name, value)}
    words = " ".join(f"{name}={shlex.quote(value)}" for name, value in plain.items())
    rest = tuple((name, value) for name, value in environment.items() if name not in plain)
    return f"export {words}; " if words else "", rest


def _is_plain(name: str, value: str) -> bool:
    return value.isascii() and bool(_NAME.fullmatch(name)) and not _OWN.fullmatch(name)


@contextlib.contextmanager
def refusals_as_os_errors() -> Iterator[None]:
    """bashkit says with RuntimeError what its file system refuses, and Python with UnicodeError what it cannot hand over."""
    try:
        yield
    except UnicodeError as error:
        raise OSError("the sandbox takes only names that are UTF-8") from error
    except RuntimeError as error:
        raise OSError(f"the sandbox refuses the file: {error}") from error


def _check_mount(bash: Any, root: Path) -> None:
    """bashkit refuses a mount with no more than a line on stderr; an empty root would look like missing files."""
    first = next((entry.name for entry in root.iterdir() if not entry.is_symlink()), None)
    if first is not None and not bash.exists(f"/{first}"):
        raise OSError(f"the sandbox cannot show {root}")
