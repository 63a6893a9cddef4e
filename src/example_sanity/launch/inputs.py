"""Which files besides itself an evaluated script may look at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.core.trace import SCRIPTS

if TYPE_CHECKING:
    from example_sanity.core.project import Project
    from example_sanity.launch.syntax import Script

# Words that need no file to do their work; whatever else a script says may read one, or ask whether it is there.
_READS = re.compile(
    r"""
      (?:^|[\s;&|(`])(?:source|\.|bash|sh|zsh|dash|cat|tac|head|tail|grep|egrep|sed|awk|gawk|cut|sort|uniq|wc|ls|find
        |stat|realpath|readlink|diff|cmp|jq|yq|mapfile|readarray|xargs|envsubst|test|cp|mv|rm(?!\s+-\w*f)|du|file|exec|eval|cd)
        (?=[\s;&|)`'"]|$)
    | <(?![<(])                         # input from a file
    | \[\[?\s+(?:!\s+)?-[a-hkprstuwxGLNOS]\s   # is there such a file
    | (?:^|[\s;&|(])["']?(?:\./|\.\./|/|~|\$\{?\w+\}?/)[^\s;&|]*\.(?:sh|bash)\b   # a script as a command or argument
    | (?<=[\s/])(?!\*\))[^\s'"$#=()\[]*(?:[*?]|\[[^\s\[\]]+\])[^\s'"]*(?=[\s;)])  # a pattern
    """,
    re.VERBOSE | re.MULTILINE,
)

_ARITHMETIC = re.compile(r"\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)")


def note(script: Script, project: Project) -> None:
    """Tell the project what an evaluation of the script may look at.

    The sandbox does not say what it read, so this errs on the safe side: a script with a word that may read files
    depends on every shell script, on which files there are, and on each file whose name it mentions.
    """
    text = "\n".join(line for line in script.text.split("\n") if not line.lstrip().startswith("#"))
    text = _ARITHMETIC.sub("", text)
    if not _READS.search(text):
        return
    project.watch(SCRIPTS)
    for path in project.listing:
        name = path.rpartition("/")[2]
        if name in text:
            project.watch(f"file:{path}")
