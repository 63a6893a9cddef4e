"""FLG007: a launcher that starts a file which its repository does not have."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, cast

from example_sanity.checks.flags.programs import find
from example_sanity.core.errors import Uninspectable, nearest
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.core.finding import Finding
    from example_sanity.core.project import Project
    from example_sanity.launch.command import Entry, Launch
    from example_sanity.launch.syntax import Script

_OWN_FOLDER = regex(r"dirname|BASH_SOURCE|\$0|\$\{0|\bpwd\b|\$\{?PWD\b|rev-parse")
_SUBMODULE = regex(r"(?m)^\s*path\s*=\s*(\S+)")
_LAUNCHER = "examples/gpt/run_gpt_megatron.sh"
_FILES = {"examples/gpt/train_gpt.py": "print(1)\n"}


class MissingProgram(Rule):
    """The launcher starts a Python file that does not exist in the repository.

    The path is looked for from the root of the repository, from the launcher's folder, and as the end of any path, as
    launchers are started from many places. Nothing is said of an absolute path, a bare file name, a file that the
    launcher makes itself, or a launcher that changes into a folder outside the repository.
    """

    code = "FLG007"
    name = "missing-program"
    summary = "the launcher starts a file that the repository does not have"
    subject = Subject.LAUNCH
    source = "the files of the repository"
    bad = (Example("torchrun examples/gpt/pretrain_gpt.py --lr 1e-5\n", _LAUNCHER, _FILES),)
    good = (Example("torchrun examples/gpt/train_gpt.py --lr 1e-5\n", _LAUNCHER, _FILES),)

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Look for the file of each entry."""
        launch = cast("Launch", subject)
        for entry in launch.entries:
            if entry.file is None or find(launch, entry, context) or not _is_certain(launch, entry, context):
                continue
            index = entry.arguments[0] - 1 if entry.arguments else len(entry.command.argv) - 1
            origins = entry.command.origins
            origin = origins[index] if index < len(origins) else entry.command.site
            yield self.finding(
                origin.path,
                origin.span,
                f"{entry.file} does not exist{_nearby(entry.file, context.project)}",
                scenarios=(launch.scenario.name,),
            )


def _is_certain(launch: Launch, entry: Entry, context: Context) -> bool:
    """Whether the path must be one of the repository, and is not there."""
    name = entry.file or ""
    path = posixpath.normpath(name)
    index = entry.arguments[0] - 1 if entry.arguments else len(entry.command.argv) - 1
    if name.startswith("/") or not path.endswith(".py") or "/" not in path or "$" in path:
        return False
    if index in entry.command.unstable or entry.command.argv[index] != name:
        return False
    tail = path.lstrip("./")
    project = context.project
    if any(file == tail or file.endswith(f"/{tail}") for file in project.all_files):
        return False
    top = tail.partition("/")[0]
    here = posixpath.dirname(launch.script.path)
    known = top in project.folders or posixpath.join(here, top) in project.folders
    return known and _stays(launch.script, project) and not _is_made(tail, launch.script, project)


def _stays(script: Script, project: Project) -> bool:
    """Whether the script changes into folders of the repository only."""
    for site in script.commands:
        if site.name not in ("cd", "pushd") or len(site.words) < 2:
            continue
        text = site.words[1].text.strip("\"'")
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(script.path), text))
        if not _OWN_FOLDER.search(text) and folder not in project.folders and text not in project.folders:
            return False
    return True


def _is_made(path: str, script: Script, project: Project) -> bool:
    """Whether the script writes the file or fetches it, or it belongs to a submodule."""
    name = re.escape(posixpath.basename(path))
    if re.search(
        rf"(?m)(?:>|\b(?:tee|wget|curl|cp|mv|ln|touch|tar|unzip)\b).*{name}|\bgit\b.*\bclone\b", script.text
    ):
        return True
    try:
        modules = _SUBMODULE.findall(project.text(".gitmodules"))
    except Uninspectable:
        return False
    return any(path.startswith(f"{module}/") for module in modules)


def _nearby(name: str, project: Project) -> str:
    """Say which file may be meant: the same name in another folder, else the one that looks most like it."""
    base = posixpath.basename(name)
    programs = [path for path in project.all_files if path.endswith(".py")]
    same = [path for path in programs if posixpath.basename(path) == base]
    best = nearest(name, same, 0) if same else nearest(name, programs, 75)
    return f"; the nearest is {best}" if best else ""
