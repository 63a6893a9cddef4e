"""Which files besides itself an evaluated script may look at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.core.regex import regex
from example_sanity.core.trace import LISTING, PLACES, SCRIPTS

if TYPE_CHECKING:
    from example_sanity.core.project import Project
    from example_sanity.launch.syntax import Script

# Words that need no file to do their work; whatever else a script says may read one, or ask whether it is there.
_READS = regex(
    r"""
      (?:^|[\s;&|(`])(?:source|\.|bash|sh|zsh|dash|cat|tac|head|tail|grep|egrep|sed|awk|gawk|cut|sort|uniq|wc|ls|find
        |stat|realpath|readlink|diff|cmp|jq|yq|mapfile|readarray|xargs|envsubst|test|cp|mv|rm(?!\s+-\w*f)|du|file|exec|eval|cd
        |pushd|compgen|mkdir(?!\s+-\w*p)|rmdir|ln(?!\s+-\w*f)|(?:md5|sha\d+|ck)?sum|base64|tree|less|more|od|xxd|rev|nl|paste
        |join|comm|tar|gunzip|zcat|strings|column|fold|dd|chmod|rg)
        (?=[\s;&|)`'"]|$)
    | <(?![<(])                         # input from a file
    | \[\[?\s(?:[^\n\]]*[\s(])?-(?:[a-hkprstuwxGLNOS]|[no]t|ef)\s   # is there such a file
    | (?:^|[\s;&|(])["']?(?:\./|\.\./|/|~|\$\{?\w+\}?/)[^\s;&|]*\.(?:sh|bash)\b   # a script as a command or argument
    | (?<=[\s/])(?!\*\))[^\s'"$#=()\[]*(?:[*?]|\[[^\s\[\]]+\])[^\s'"]*(?=[\s;)])  # a pattern
    """,
    re.VERBOSE | re.MULTILINE,
)

_ARITHMETIC = regex(r"\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)")
_RUNS = regex(r"(?:^|[\s;&|(`])(?:source|\.|bash|sh|zsh|dash|exec|eval|xargs)(?=\s)[^\n]*", re.MULTILINE)
_NAME = regex(r"[\w+.-]+")


def note(script: Script, project: Project) -> None:
    """Tell the project what an evaluation of the script may look at.

    The sandbox does not say what it read, so this errs on the safe side: a script with a word that may read files
    depends on which files and places there are, on each file whose name it mentions, and on what those mention in turn; on every
    shell script where it runs one under a name that is computed.
    """
    seen: set[str] = {script.path}
    texts = [script.text]
    while texts:
        text = _bare(texts.pop())
        if not _READS.search(text):
            continue
        project.watch(LISTING)
        project.watch(PLACES)
        names = _names(text)
        _note_unlisted(names, project)
        if any(_is_computed(found[0], project) for found in _RUNS.finditer(text)):
            project.watch(SCRIPTS)
            _note_unlisted(None, project)
            return
        mentioned = {path for name in names for path in project.files_named(name)} - seen
        seen |= mentioned
        texts += [_content(path, project) for path in sorted(mentioned)]


def _note_unlisted(names: set[str] | None, project: Project) -> None:
    """Of what git does not list, tell what a text names; None: all of it."""
    for place in project.places.unlisted:
        if names is None or place.rpartition("/")[2] in names:
            project.watch(f"place:{place}")


def _bare(text: str) -> str:
    """The text without comment lines and arithmetic."""
    lines = (line for line in text.split("\n") if not line.lstrip().startswith("#"))
    return _ARITHMETIC.sub("", "\n".join(lines))


def _names(text: str) -> set[str]:
    return set(_NAME.findall(text))


def _is_computed(command: str, project: Project) -> bool:
    """Whether the command runs a script whose name is no literal, as far as one can see."""
    return "$" in command and not any(project.files_named(name) for name in _names(command))


def _content(path: str, project: Project) -> str:
    """The text of a script that may be run in turn; nothing for other files, which are only read."""
    project.watch(f"file:{path}")
    data = project.peek(path) if project.is_shell(path) else None
    return (data or b"").decode("utf-8", "replace")
