"""Makes the subjects of the family: Python files that compile, text files, and the text of a pull request."""

from __future__ import annotations

import re
import sys
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.commentstyles import is_text
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Severity, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Loaded, Subject

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

_REQUIRES = regex(r"^requires-python\s*=\s*[\"'][^\"'\n]*?(?:>=|~=|==)\s*(3\.\d+)", re.MULTILINE)
PULL_REQUEST_FILE = "PULLREQ_EDITMSG"


class Complaint(msgspec.Struct, frozen=True):
    """What the compiler warns of, and the line."""

    line: int
    message: str


class TextFile(msgspec.Struct, frozen=True):
    """A text file."""

    path: str
    text: str

    @property
    def lines(self) -> Sequence[str]:
        """The lines, as Python's tokenizer counts them."""
        return re.split(r"\r\n?|\n", self.text)


class PythonSource(TextFile, frozen=True):
    """A Python file that compiles, and what the compiler warned of."""

    complaints: tuple[Complaint, ...] = ()

    @property
    def tree(self) -> ast.Module:
        """The syntax tree. Those of the last files are kept, not more: they take a hundred times the room of their text."""
        return _parse(self.text)


class PullRequest(msgspec.Struct, frozen=True):
    """The title and the text of a pull request, as an editor gets them: the title is the first line.

    ``body_line`` is the line on which the text begins.
    """

    path: str
    title: str
    body: str
    body_line: int = 3


@lru_cache(maxsize=4)
def _parse(text: str) -> ast.Module:
    import ast
    import gc

    # The collector would look at every node of every tree again and again; trees have no cycles.
    enabled = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    finally:
        if enabled:
            gc.enable()


class TextLoader:
    """A text file of a kind whose comments are known, or a document."""

    subject = Subject.TEXT

    def matches(self, context: Context, path: str) -> bool:
        """Return whether the file is of such a kind, by its name."""
        del context
        return is_text(path)

    def load(self, context: Context, path: str) -> Loaded:
        """Return the text. Raises Uninspectable (SYS001, SYS002)."""
        return Loaded((TextFile(path, context.project.text(path)),))


class PythonLoader:
    """A Python file."""

    subject = Subject.PYTHON_SOURCE

    def matches(self, context: Context, path: str) -> bool:
        """Return whether the file is Python, by its suffix."""
        del context
        return path.endswith(".py")

    def load(self, context: Context, path: str) -> Loaded:
        """Compile the file, which runs nothing of it. Raises Uninspectable (SYS001, SYS002, SYS006)."""
        text = context.project.text(path).removeprefix("\ufeff")
        try:
            return Loaded((PythonSource(path, text, _complaints(text)),))
        except Uninspectable as error:
            newer = _newer_python(context, path)
            if newer is None:
                raise
            message = f"{error.message}; it is for Python {newer} (requires-python): run the tool with that"
            raise Uninspectable("SYS006", message, error.span, Severity.INFO) from error


def _newer_python(context: Context, path: str) -> str | None:
    """The oldest Python that the project of a file asks for, where that is newer than the one that runs the tool."""
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        place = f"{folder}/pyproject.toml" if folder else "pyproject.toml"
        found = _REQUIRES.search(context.project.text(place)) if place in context.project.all_files else None
        if found:
            return found[1] if int(found[1].partition(".")[2]) > sys.version_info.minor else None
    return None


def _complaints(text: str) -> tuple[Complaint, ...]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            compile(text, "<source>", "exec", dont_inherit=True)
        except SyntaxError as error:
            raise Uninspectable("SYS006", _why(error), _place(error)) from error
        except (ValueError, RecursionError, MemoryError) as error:
            raise Uninspectable("SYS006", f"not Python for this interpreter: {error}") from error
    return tuple(dict.fromkeys(Complaint(item.lineno, str(item.message)) for item in caught))


def _why(error: SyntaxError) -> str:
    import platform

    return f"Python {platform.python_version()} cannot parse the file: {error.msg}"


def _place(error: SyntaxError) -> Span:
    line, start = max(error.lineno or 1, 1), max(error.offset or 1, 1)
    return Span(line, start, line, start + 1)


class PullRequestLoader:
    """The text of a pull request, in a file of the name that tools give it for editing."""

    subject = Subject.PULL_REQUEST

    def matches(self, context: Context, path: str) -> bool:
        """Return whether the file is one."""
        del context
        return path.rpartition("/")[2] == PULL_REQUEST_FILE

    def load(self, context: Context, path: str) -> Loaded:
        """Return title and text. Raises Uninspectable (SYS001, SYS002)."""
        title, _, rest = context.project.text(path).partition("\n")
        body = rest.removeprefix("\r").removeprefix("\n")
        return Loaded((PullRequest(path, title.rstrip("\r"), body, 3 if rest != body else 2),))


LOADERS = (TextLoader(), PythonLoader(), PullRequestLoader())
