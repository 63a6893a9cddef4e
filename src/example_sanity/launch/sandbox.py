"""The sandbox: one bashkit instance over a copy-on-write view of the project, with the world's commands as callbacks.

Nothing runs on the host: bash is interpreted in this process, files are virtual, writes stay in memory, there is no
network and no host environment. bashkit swallows what a callback raises, so callbacks keep errors for the caller.
"""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import bashkit
import msgspec
from msgspec import field

from example_sanity.core.regex import regex
from example_sanity.launch import normalise, rewriting, shells, tools, world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from example_sanity.launch.scenario import Answer

END = "__es_end"
DEPTH = 100  # bashkit stops there, and the scanners here recurse
_BRACKET = regex(r"[(){}]")
OUTPUT = 1 << 20  # bytes; bashkit cuts off there
_LIMIT = regex(r"limit exceeded|budget exhausted|too large|too deep")
_JOB_LIMIT = regex(r"resource limit exceeded: .*")
_TRUNCATED = regex(r"limit \(\d+\) exceeded; output truncated")
_PROBES_PATH = regex(r"\b(?:which|type|hash|command\s+-[vV])\b|\[\s+(?:!\s+)?-[xef]\s")
_MAX_SCRIPT = 1 << 20
# What bash itself, or the kernel, gives differently each time.
_CHANCE = regex(r"(?:RANDOM|SECONDS|EPOCHREALTIME|PPID|BASHPID)\b|\$\$|/proc/|/dev/u?random")
_SYSTEM = ("/bin/", "/usr/", "/etc/", "/dev/", "/proc/")  # the sandbox's own, read-only
_MISSING = regex(r"(?:\S+: )?(?:line \d+: )?(\S+): command not found")
_NOT_THERE = regex(r"\S+: (?:line \d+: )?(\S*/\S*): No such file or directory")
_FOREIGN = regex(rb"#!(?!.*sh\b)(.*)")


class Recorded(msgspec.Struct, frozen=True):
    """One command as the sandbox saw it: words, exported variables, status, call site (file index, offset), current folder."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    status: int
    site: tuple[int, int] | None
    folder: str = "/"


class Outcome(msgspec.Struct):
    """What a run left behind. ``error`` is bashkit's reason for stopping, ``problems`` what callbacks noticed."""

    status: int = 0
    stdout: str = ""
    stderr: str = ""
    error: str | None = None
    limit: bool = False
    problems: list[str] = field(default_factory=list)


class Sandbox:
    """A fresh world for one run (or for a few hundred small ones).

    ``root`` is shown at ``/`` (None: an empty file system), ``names`` are further commands to record: one that is
    missing is "not found". ``environment`` is
    all that the script gets besides PATH, HOME, USER and LANG; ``unknown`` is what commands print of which nobody knows the
    output. Raises OSError when the root cannot be shown.
    """

    def __init__(
        self,
        root: Path | None,
        environment: Mapping[str, str],
        probes: Mapping[str, Answer],
        names: Iterable[str] = (),
        unknown: str = "",
    ) -> None:
        self.commands: list[Recorded] = []
        self.files: dict[
            str, str
        ] = {}  # path of each script file that was read, and its text as it was written
        self.wanted: set[str] = set()
        self.variables: dict[str, str] = {}
        self.outcome = Outcome()
        self._probes = probes
        self._unknown = unknown
        self._temporaries = 0
        self._known = -1  # how many commands were recorded up to the first answer that nobody knows
        self.names = sorted({*world.names(probes), *names} - world.absent(probes))
        self._stubs: set[str] = set()
        self._root = root
        self._is_common = True  # whether its interpreter can serve another run
        self._shell = self._open(environment)
        self._bash: Any = self._shell.bash

    def _open(self, environment: Mapping[str, str]) -> shells.Shell:
        self._commands: dict[str, Callable[[Any], Any]] = {
            **dict.fromkeys(self.names, self._record),
            "mktemp": self._temporary,
            "tee": _tee,
            "shuf": self._shuf,
            "expr": _expr,
            rewriting.PREPARE: self._prepare,
            rewriting.LIMIT: self._limit,
            END: self._end,
        }
        self._exports, rest = shells.exported(environment)
        return shells.take((self._root, tuple(self._commands), rest), self._answer)

    def _answer(self, context: Any) -> Any:
        try:
            return self._commands[context.name](context)
        except Exception as error:
            self.outcome.problems.append(f"{context.name}: {type(error).__name__}: {error}")
            return bashkit.BuiltinResult(exit_code=1)

    def add_callback(self, name: str, callback: Callable[[list[str]], object]) -> None:
        """Make ``name`` a command of the sandbox that hands its arguments to ``callback`` and prints nothing."""

        def run(context: Any) -> str:
            callback(list(context.argv))
            return ""

        self._commands[name] = run
        self._is_common = False
        self._bash.add_builtin(name, self._answer)

    def _record(self, context: Any) -> Any:
        argv = (context.name, *context.argv)
        answer = world.respond(argv, self._probes, self._unknown)
        if world.recorded(argv):
            environment = {k: v for k, v in context.env.items() if not k.startswith(rewriting.INTERNAL)}
            site = _site(context.env.get(rewriting.SITE), len(self.files))
            self.commands.append(Recorded(argv, environment, answer.status, site, str(context.cwd)))
        if self._known < 0 and not world.is_known(argv, self._probes):
            self._known = len(self.commands)
        return bashkit.BuiltinResult(stdout=answer.stdout, exit_code=answer.status)

    @property
    def uncertain(self) -> bool:
        """Whether another day or machine might have given a recorded command other words.

        What a command prints can only reach those that are recorded after it.
        """
        by_chance = any(_is_by_chance(text) for text in self.files.values())
        return by_chance or 0 <= self._known < len(self.commands)

    def _temporary(self, context: Any) -> Any:
        self._temporaries += 1
        path, is_folder = world.temporary((context.name, *context.argv), self._temporaries)
        place = str(PurePosixPath(context.cwd) / path)
        if is_folder:
            context.fs.mkdir(place, True)
        else:
            context.fs.write_file(place, b"")
        return path + "\n"

    def _shuf(self, context: Any) -> Any:
        self._known = len(self.commands) if self._known < 0 else self._known
        files = [str(PurePosixPath(context.cwd) / word) for word in context.argv if not word.startswith("-")]
        there = [context.fs.read_file(path) for path in files if context.fs.exists(path)]
        text = there[0].decode("utf-8", "replace") if there else context.stdin or ""
        chosen = tools.shuf(context.argv, text.splitlines(), bool(self._unknown))
        return "".join(line + "\n" for line in chosen)

    def _limit(self, context: Any) -> Any:
        self.outcome.limit = True
        self.outcome.problems.append("a brace expansion of " + " ".join([*context.argv, "words"]))
        return ""

    def _end(self, context: Any) -> Any:
        words = context.argv
        triples = zip(words[::3], words[1::3], words[2::3], strict=False)
        self.variables = {name: value for name, there, value in triples if there}
        return ""

    def _prepare(self, context: Any) -> Any:
        # A command without a slash is looked up in PATH and is no script of the project; to look for one takes a while.
        if context.argv[1:] and context.argv[-1] == rewriting.DIRECT and "/" not in context.argv[0]:
            return ""
        path = str(PurePosixPath(context.cwd) / context.argv[0]) if context.argv else ""
        if path in self.files or not path or not context.fs.exists(path):
            return ""
        status = context.fs.stat(path)
        if status["file_type"] != "file" or status["size"] > _MAX_SCRIPT or path.startswith(_SYSTEM):
            return ""
        data = context.fs.read_file(path)
        foreign = _FOREIGN.match(data)
        if foreign:
            self._replace_foreign(
                context, path, foreign[1].decode("utf-8", "replace").split(), status["mode"]
            )
        elif unreadable(data) is None and too_deep(data.decode()) is None:
            context.fs.write_file(path, self._rewritten(path, data.decode(), context.fs).encode())
            context.fs.chmod(path, status["mode"])
        return ""

    def _replace_foreign(self, context: Any, path: str, interpreter: list[str], mode: int) -> None:
        """A program with a shebang of another language is run by the kernel as ``interpreter path arguments``."""
        if interpreter and context.argv[1:] == [rewriting.DIRECT]:
            words = interpreter[1:] if interpreter[0].endswith("/env") else interpreter
            words = [word for word in words if word != "-S"]
            line = " ".join(map(shlex.quote, words))
            context.fs.write_file(path, f'#!/bin/bash\n{line} "$0" "$@"\n'.encode())
            context.fs.chmod(path, mode)

    def add_script(self, path: str, text: str, prelude: str = "") -> None:
        """Put the script to run into the sandbox, ``prelude`` on its first line. Raises OSError as ``write``."""
        self.write(path, prelude + self._rewritten(path, text, self._bash.fs()), 0o755)

    def _rewritten(self, path: str, text: str, files: Any) -> str:
        self.files[path] = text
        words = _words_of_probing(text)
        if words is not None:
            self._write_stubs(words & {*self.names} - self._stubs, files)
        result = normalise.normalise(text, str(len(self.files) - 1))
        self.wanted |= result.names
        return result.text

    def _write_stubs(self, mentioned: frozenset[str], files: Any) -> None:
        """Make ``which`` and its kin find the recorded commands that a text mentions; writing all of them is slow."""
        self._stubs |= mentioned
        files.mkdir(world.STUB_FOLDER, True)
        for name in sorted(mentioned):
            files.write_file(f"{world.STUB_FOLDER}/{name}", f'#!/bin/bash\n{name} "$@"\n'.encode())
            files.chmod(f"{world.STUB_FOLDER}/{name}", 0o755)

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Put a file into the virtual file system; where a link of that name leads, that place is taken.

        Its folder is made first: the overlay cannot write otherwise. Raises OSError for a path that the sandbox
        refuses: a name with a line break, one that is not UTF-8.
        """
        files = self._bash.fs()
        path = self._followed(path)
        with shells.refusals_as_os_errors():
            files.mkdir(str(PurePosixPath(path).parent), True)
            files.write_file(path, text.encode())
            files.chmod(path, mode)

    def _followed(self, path: str) -> str:
        """Where a link of the project leads, as the sandbox sees it: what is outside the root is not there."""
        host = f"{self._root}/{path.lstrip('/')}"
        if self._root is None or not os.path.islink(host):  # noqa: PTH114
            return path
        return posixpath.normpath(posixpath.join(posixpath.dirname(path), os.readlink(host)))  # noqa: PTH115

    def close(self) -> None:
        """Give up the interpreter. It holds callbacks that hold this object, a circle that nobody else breaks."""
        self._bash = None
        if self._is_common and self.outcome.error is None and not self.outcome.limit:
            shells.give_back(self._shell)
        del self._shell

    def run(self, source: str) -> Outcome:
        """Run ``source`` in the sandbox's shell; adds to ``commands`` and fills ``outcome``. Never raises."""
        try:
            result = self._bash.execute_sync(self._exports + source)
        except Exception as error:
            self.outcome.error = f"{type(error).__name__}: {error}"
            return self.outcome
        outcome = self.outcome
        outcome.status, outcome.stdout, outcome.stderr = result.exit_code, result.stdout, result.stderr
        outcome.error, outcome.limit = _stopped(result, outcome.limit)
        return outcome


def _stopped(result: Any, limit: bool) -> tuple[str | None, bool]:
    """Return why a run stopped before its end or lost output, and whether a limit did it.

    The limit that a background job hits is only on stderr.
    """
    if result.error is not None:
        return result.error, limit or _LIMIT.search(result.error) is not None
    found = _JOB_LIMIT.search(result.stderr) or _TRUNCATED.search(result.stderr)
    if found:
        return found.group(), True
    if result.stdout_truncated or result.stderr_truncated or len(result.stdout) >= OUTPUT:
        return f"more than {OUTPUT} bytes of output", True
    return None, limit


def syntax_error(text: str) -> str | None:
    """Return bash's reason for not parsing ``text``, or None."""
    try:
        bashkit.Bash().analyze(text)
    except bashkit.BashError as error:
        return str(error).removeprefix("parse error at ").removeprefix("parse error: ")
    return None


# The scenarios of a script come one after the other, with the files that it reads.
@lru_cache(maxsize=16)
def _words_of_probing(text: str) -> frozenset[str] | None:
    """Return the words of a text that may ask where commands are, None for any other."""
    return frozenset(re.findall(r"[\w.+-]+", text)) if _PROBES_PATH.search(text) else None


@lru_cache(maxsize=16)
def _is_by_chance(text: str) -> bool:
    return _CHANCE.search(text) is not None


@lru_cache(maxsize=16)
def too_deep(text: str) -> str | None:
    """Return why a text cannot be looked into, or None: brackets nested deeper than anybody writes them."""
    depth = 0
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket in "({" else max(depth - 1, 0)
        if depth > DEPTH:
            return f"brackets nested more than {DEPTH} deep"
    return None


def unreadable(data: bytes) -> str | None:
    """Return why ``data`` cannot be a shell script, or None: it is binary or not UTF-8."""
    if b"\0" in data:
        return f"the file is binary (a zero byte at offset {data.index(0)})"
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f"the file is not UTF-8 (byte 0x{data[error.start]:02x} at offset {error.start})"
    return None


def _site(text: str | None, files: int) -> tuple[int, int] | None:
    match = re.fullmatch(r"(\d{1,6}):(\d{1,9})", text or "")
    return (int(match[1]), int(match[2])) if match and int(match[1]) < files else None


def _expr(context: Any) -> Any:
    """The sandbox's own ``expr`` stops after the second operand."""
    try:
        value = tools.expr(context.argv)
    except tools.ExpressionError as error:
        return bashkit.BuiltinResult(stderr=f"expr: {error}\n", exit_code=2)
    return bashkit.BuiltinResult(stdout=value + "\n", exit_code=int(tools.is_null(value)))


def _tee(context: Any) -> Any:
    """The sandbox's own ``tee`` stops the whole script where a folder is missing; real bash goes on."""
    text = context.stdin or ""
    append = "-a" in context.argv or "--append" in context.argv
    errors = []
    for word in (word for word in context.argv if not word.startswith("-")):
        path = str(PurePosixPath(context.cwd) / word)
        try:
            (context.fs.append_file if append else context.fs.write_file)(path, text.encode())
        except Exception:
            errors.append(f"tee: {word}: No such file or directory\n")
    return bashkit.BuiltinResult(stdout=text, stderr="".join(errors), exit_code=1 if errors else 0)


def unknown_commands(stderr: str) -> tuple[str, ...]:
    """Return the command names that a run asked for and the world does not know, in order of appearance."""
    # A script that traces itself prints thousands of lines, none of which is an error.
    errors = [line for line in stderr.split("\n") if "command not found" in line or "No such file" in line]
    missing = [match[1] for line in errors if (match := _MISSING.match(line))]
    paths = [match[1] for line in errors if (match := _NOT_THERE.fullmatch(line))]
    return tuple(dict.fromkeys([*missing, *paths]))
