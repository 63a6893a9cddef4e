"""DOC001: paths in documents that lead nowhere."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from example_sanity.checks.docs.base import DocumentRule, matches, options
from example_sanity.checks.docs.files import Files, files_of
from example_sanity.checks.docs.mentions import Mention, bare_names, is_placeholder, mentions
from example_sanity.checks.docs.sphinx import names_no_file, sphinx_of
from example_sanity.core.finding import Edit, Fix, Severity
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Document, Link
    from example_sanity.core.finding import Finding, Span

_SCHEME = regex(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_DOMAIN = regex(r"(?:[\w-]+\.)+(?:com|org|io|net|ai|cn|dev|co|edu|gov)(?:/|$)")
_REPOSITORY = regex(r"https?://(?:www\.)?git(?:hub|lab)\.com/[\w.-]+/([\w.-]+)/")
# What stands for an address in a template of a report.
_ADDRESS = regex(r"(?:\w+_)?(?:url|link)s?", re.IGNORECASE)
# An address on GitHub without its host: what such texts as those of pull requests are relative to.
_ON_GITHUB = regex(r"/[\w.-]+/[\w.-]+/(?:blob|tree|raw|issues|pull|discussions|wiki|actions)\b")
_LINE = regex(r":\d+(?:-\d+)?$|::[\w:\[\]-]+$")


class DanglingPath(DocumentRule):
    """A document names a file or folder of the repository that is not there.

    Looked at are links and images, paths in inline code, in commands and in running text. A path counts as one of this
    repository when it begins in a folder that the repository has; placeholders, globs that match, submodules, what git
    ignores and paths of other machines are passed over. The message gives the nearest path that exists: mostly the file
    was moved. Paths of another repository, quoted without saying so, are named in ``foreign`` of
    ``[tool.example-sanity.docs]``.
    """

    code = "DOC001"
    name = "dangling-path"
    summary = "a document names a file that does not exist"
    bad = (
        Example("Run `examples/ppo/run_a_fsdp.sh`.\n", "README.md", {"examples/ppo/run_b_fsdp.sh": "echo\n"}),
        Example("See [the guide](guide.md).\n", "docs/start.md", {"docs/guides/guide.md": "# Guide\n"}),
    )
    good = (
        Example("Run `examples/ppo/run_b_fsdp.sh`.\n", "README.md", {"examples/ppo/run_b_fsdp.sh": "echo\n"}),
        Example("Set `MODEL=/path/to/model`, or `Qwen/Qwen3-8B`.\n", "README.md"),
    )

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        files = files_of(context)
        foreign = options(context).foreign
        for link in document.links:
            problem = _broken(link, document, context)
            if (
                problem
                and not matches(link.target, foreign)
                and not names_no_file(document, unquote(link.target), context)
            ):
                yield self._at(document.path, link.span, link.target, problem)
        for mention in bare_names(document):
            problem = _misnamed(mention, files)
            if problem and not matches(mention.path, foreign):
                yield self._at(document.path, mention.span, mention.path, problem)
        for mention, problem in _dangling(document, context):
            yield self._at(document.path, mention.span, mention.path, problem)

    def _at(self, path: str, span: Span, written: str, problem: _Problem) -> Finding:
        fix = None
        if problem.better and span.line == span.end_line and span.end_column - span.column == len(written):
            fix = Fix(
                f"write {problem.better}",
                (Edit(path, span, problem.better),),
                safe=problem.severity is not None,
            )
        return self.finding(path, span, problem.message, severity=problem.severity, fix=fix)


def dangling(document: Document, context: Context) -> Iterator[str]:
    """Yield the paths that a document names, outside its links, and that are not there."""
    for mention, _ in _dangling(document, context):
        yield mention.path


def _dangling(document: Document, context: Context) -> Iterator[tuple[Mention, _Problem]]:
    files = files_of(context)
    labels = {link.label.strip("`") for link in document.links if _leads_elsewhere(link, files)}
    for mention in mentions(document, files):
        problem = _missing(mention, files)
        if problem and mention.path not in labels and not matches(mention.path, options(context).foreign):
            yield mention, problem


def _leads_elsewhere(link: Link, files: Files) -> bool:
    """Whether a link leads to a repository of another name: what it is called is a path there."""
    found = _REPOSITORY.match(link.target)
    return found is not None and found[1].lower() != files.root.lower()


class _Problem(NamedTuple):
    """What is wrong, what to write instead where that is known, and the severity where it is not that of the rule."""

    message: str
    better: str | None = None
    severity: Severity | None = None


def _broken(link: Link, document: Document, context: Context) -> _Problem | None:
    """Return what is wrong with a link; those with a scheme are left to tools that ask the network."""
    files = files_of(context)
    target = unquote(link.target.partition("#")[0].partition("?")[0])
    if link.kind in ("ref", "doc") or not target or _SCHEME.match(target) or is_placeholder(target):
        return None
    if _ADDRESS.fullmatch(target) or _ON_GITHUB.match(target):
        return None
    if re.search(r"[<>{}$*\s]", target) or "@" in target or target.endswith("_"):
        return None
    rooted = target.startswith("/")
    base = _root_of_links(link, document, context) if rooted else document.folder
    path = posixpath.normpath(posixpath.join(base, target.lstrip("/")))
    if (
        path.startswith("..")
        or any(files.holds(item) for item in _variants(path))
        or files.is_elsewhere(path)
    ):
        return None
    if rooted and files.holds(posixpath.normpath(target.lstrip("/"))):
        return None
    return _explained(link, target, path, document, files)


def _explained(link: Link, target: str, path: str, document: Document, files: Files) -> _Problem:
    """Say why a link leads nowhere, and where it should."""
    rest = link.target[len(link.target.partition("#")[0]) :]
    if _DOMAIN.match(target):
        return _Problem(
            f"{link.target} is no file; a link to another site begins with https://", f"https://{link.target}"
        )
    if "://" in target:
        return _Problem(f"{target} is no address: one begins with its scheme")
    if document.kind == "rst" and link.kind == "link" and target.lower() in _names(document):
        return _Problem(
            f"the link {target} is a name, which has an underscore behind it: <{target}_>", f"{target}_"
        )
    if files.holds(posixpath.normpath(target)):
        better = posixpath.relpath(target, document.folder or ".")
        text = f"{target} is looked for in {document.folder}/, not in the root; write {better}"
        return _Problem(text, better + rest, Severity.WARNING)
    what = {"image": "image", "include": "file to include"}.get(link.kind, "file")
    near = _relative(files.nearest(path), document.folder)
    text = f"the {what} {unquote(link.target)} does not exist{_nearest(near)}"
    return _Problem(text, near + rest if near and _is_moved(path, near) else None)


def _names(document: Document) -> set[str]:
    return {link.label for link in document.links if link.kind == "link"} | document.labels


def _relative(path: str | None, folder: str) -> str | None:
    return posixpath.relpath(path, folder) if path and folder else path


def _nearest(better: str | None) -> str:
    return f"; the nearest is {better}" if better else ""


def _is_moved(path: str, better: str) -> bool:
    """Return whether a file has kept its name."""
    return path.rpartition("/")[2] == better.rpartition("/")[2]


def _root_of_links(link: Link, document: Document, context: Context) -> str:
    """The folder that ``/x`` is relative to: that of the documentation for Sphinx, the root of the repository on GitHub."""
    project = sphinx_of(document.path, context)
    if link.kind != "link" and project:
        return project.folder
    return document.path.partition("/")[0] if link.kind != "link" and "/" in document.path else ""


def _variants(path: str) -> Iterator[str]:
    """Yield the sources that a link may mean: itself, or what a page is made of."""
    yield path
    if path.endswith(".html"):
        stem = path.removesuffix(".html")
        yield from (f"{stem}{ending}" for ending in (".md", ".rst", ".ipynb"))
    elif "." not in path.rpartition("/")[2]:
        yield from (f"{path}{ending}" for ending in (".md", ".rst"))


def _missing(mention: Mention, files: Files) -> _Problem | None:
    """Return what is wrong with a path, None where it is there or may belong to something else."""
    path = _LINE.sub("", mention.path)
    bare = posixpath.normpath(path)
    if re.search(r"[*?\[\]{}]", path):
        return None if _is_pattern_of(path, mention, files) else _nothing_matches(path, mention, files)
    if bare.startswith("..") or _is_there(bare, path, mention, files) or not _is_ours(bare, mention, files):
        return None
    better = files.nearest(bare)
    text = f"{mention.path} does not exist{_nearest(better)}"
    return _Problem(text, better if better and _is_moved(bare, better) and path == mention.path else None)


def _misnamed(mention: Mention, files: Files) -> _Problem | None:
    """Return what is wrong with the name of a script, None where it may be one that the reader makes."""
    if mention.path in files.by_name:
        return None
    near = files.nearest_name(mention.path)
    if near is None:
        return None
    text = f"no file of the repository is called {mention.path}; the nearest is {near}"
    return _Problem(text, posixpath.basename(near))


def _is_there(bare: str, path: str, mention: Mention, files: Files) -> bool:
    if files.resolve(path, mention.bases) is not None or files.ends_with(bare):
        return True
    # A module without its suffix, as in "app/train::main".
    if not mention.suffix and files.resolve(f"{path}.py", mention.bases) is not None:
        return True
    inner = bare.partition("/")[2]
    # "verl/examples/x.sh" from the folder in which the repository was cloned.
    return files.holds(inner) and "/" in inner


def _is_ours(path: str, mention: Mention, files: Files) -> bool:
    """Return whether a path that does not exist must mean a file of this repository."""
    if files.is_elsewhere(path):
        return False
    first = path.partition("/")[0]
    homes = (*mention.bases[: mention.bases.index(mention.home) + 1], "")
    known = [base for base in homes if posixpath.join(base, first) in files.folders]
    if not known:
        return False
    if mention.suffix in ("py", "sh", "md", "rst", "yaml", "yml", "ipynb", "slurm", "bash", "sbatch"):
        return True
    if mention.place == "prose":
        return False
    parent = path.rpartition("/")[0]
    return (
        mention.place == "code"
        and any(posixpath.join(base, parent) in files.folders for base in known)
        and "/" in parent
    )


def _is_pattern_of(path: str, mention: Mention, files: Files) -> bool:
    return any(files.matches(pattern, mention.bases) for pattern in _expanded(path))


def _nothing_matches(path: str, mention: Mention, files: Files) -> _Problem | None:
    fixed = re.split(r"[*?\[{]", path)[0].rpartition("/")[0]
    if not fixed or not mention.suffix or not _is_ours(f"{fixed}/x.{mention.suffix}", mention, files):
        return None
    return _Problem(f"nothing matches {mention.path}")


def _expanded(pattern: str) -> list[str]:
    """Expand ``{a,b}``."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if found is None:
        return [pattern]
    before, after = pattern[: found.start()], pattern[found.end() :]
    return [item for choice in found[1].split(",") for item in _expanded(f"{before}{choice}{after}")]
