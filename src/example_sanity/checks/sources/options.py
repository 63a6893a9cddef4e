"""What the family ``sources`` may be told. Without configuration only rules on what is broken anyway have something to say.

Paths are gitignore-style patterns relative to the root; one that starts with a slash names nothing deeper.
"""

from __future__ import annotations

import msgspec


class Licence(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.sources.licence]``: the notice at the top of files.

    ``notices`` are the accepted lines, in which ``{year}`` stands for years and ranges of years. ``spdx`` are the accepted
    identifiers of a licence; where there are some, one must be named. Both are looked for in the comments and the
    docstring that a file starts with, not below line ``within``. ``template`` is the text that a fix inserts, without
    comment marks; ``{year}`` in it is the present year.
    """

    paths: tuple[str, ...] = ("*.py",)
    exclude: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    spdx: tuple[str, ...] = ()
    within: int = 30
    template: str = ""


class Docstrings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.sources.docstrings]``: which public names need a docstring.

    All public functions, classes and methods of ``files``; what modules among ``exports`` name in ``__all__``; what
    modules among ``imported_by`` import from the repository. ``allow`` are dotted names that need none. ``inherited``
    lets an exported or imported class do with the docstring of a base class in the repository.
    """

    files: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    imported_by: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    inherited: bool = False


class Banned(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[[tool.example-sanity.sources.banned]]``: words that must not occur in the Python files of ``paths``.

    ``names`` are identifiers, dotted ones with all their parts. Comments and strings do not count, unless
    ``in_comments`` or ``in_strings`` says so. ``message`` says what to use instead; ``replacement`` is an
    expression that an unsafe fix puts there, ``imports`` the statement that it needs.
    """

    names: tuple[str, ...]
    paths: tuple[str, ...] = ("*.py",)
    exclude: tuple[str, ...] = ()
    message: str = ""
    in_strings: bool = False
    in_comments: bool = False
    replacement: str = ""
    imports: str = ""


class Rewrite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way to write an expression anew: in ``find`` and ``replace`` the name ``X`` stands for any expression."""

    find: str
    replace: str
    imports: str = ""


class Devices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[tool.example-sanity.sources.devices]``: code that is tied to one kind of accelerator.

    ``attributes`` are names behind a dot, ``strings`` whole strings, a device number after a colon left out of account.
    """

    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ("cuda",)
    strings: tuple[str, ...] = ("cuda", "nccl")
    message: str = ""
    rewrites: tuple[Rewrite, ...] = ()


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[tool.example-sanity.sources.layout]]``: the folders below ``tests`` mirror those below ``sources``.

    ``depth`` is how many levels of folders are compared (0: all). ``names`` are the names of test files. ``extra`` are
    further folders below ``tests`` in which nothing is compared, ``files`` single files that may stand where they are.
    ``suites`` are the endings by which jobs choose tests, such as ``_on_cpu``: one that nearly is one runs nowhere.
    """

    tests: str
    sources: str
    depth: int = 1
    names: tuple[str, ...] = ("test_*.py", "*_test.py")
    extra: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()


class Annotations(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[tool.example-sanity.sources.annotations]``: the least share of public functions with annotations, 0 to 1.

    ``minimum`` is for all Python files of ``paths``, ``changed`` for functions that begin on a line changed since the
    revision ``since``.
    """

    paths: tuple[str, ...] = ("*.py",)
    exclude: tuple[str, ...] = ()
    minimum: float = 0.0
    changed: float = 0.0
    since: str = "origin/main"


class Term(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[tool.example-sanity.sources.terms]]``: a name and how it is spelled.

    Every other mix of capitals of one of ``spellings`` is wrong. ``wrong`` are further misspellings, as they are
    written. Words of prose are looked at: documents, comments, docstrings, but no code, no links and no parts of longer
    names; ``everywhere`` lists misspellings that count in any text, and as a part of a word.
    """

    spellings: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    everywhere: tuple[str, ...] = ()
    paths: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()


class YamlComments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.sources.yaml-comments]``: YAML files in which every key has a comment above it.

    ``blank_line`` wants a blank line behind each key, ``inline`` allows comments behind a value, ``list_items`` looks at
    keys that stand directly behind a dash, too.
    """

    files: tuple[str, ...] = ()
    blank_line: bool = False
    inline: bool = True
    list_items: bool = False


class Generated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[tool.example-sanity.sources.generated]]``: files that a command writes, and that must be as it writes them.

    ``command`` runs in a scratch copy of the repository, for at most ``timeout`` seconds, and only if the call allows it.
    """

    files: tuple[str, ...]
    command: str
    timeout: float = 120.0


class PullRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.sources.pull-request]``: what titles and texts of pull requests look like.

    A title is ``[MODULES] TYPE: DESCRIPTION``, where ``modules`` are the known ones, separated by commas, and ``types`` the
    known types. In front may stand ``prefixes`` in brackets, each once and in any order; ``N/M`` stands for a
    part of a series. ``template`` is the file that a text starts from; ``sections`` are headings of it
    that must hold something else than the template has there.
    """

    modules: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    template: str = ""
    sections: tuple[str, ...] = ()


class SourcesOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.sources]``.

    ``built`` are dotted modules that a build makes.
    """

    licence: Licence | None = None
    docstrings: Docstrings | None = None
    banned: tuple[Banned, ...] = ()
    devices: Devices | None = None
    layout: tuple[Layout, ...] = ()
    annotations: Annotations | None = None
    terms: tuple[Term, ...] = ()
    yaml_comments: YamlComments | None = None
    generated: tuple[Generated, ...] = ()
    pull_request: PullRequest | None = None
    built: tuple[str, ...] = ()
