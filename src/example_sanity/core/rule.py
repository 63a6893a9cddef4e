"""What a rule is: what it declares, what it looks at, and what it may use."""

from __future__ import annotations

import enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar

import msgspec

from example_sanity.core.finding import Finding, Fix, Related, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from example_sanity.core.config import Config
    from example_sanity.core.exemptions import Entry
    from example_sanity.core.project import Project
    from example_sanity.core.registry import Registry

Options = TypeVar("Options", bound=msgspec.Struct)
Kept = TypeVar("Kept")


class Subject(str, enum.Enum):
    """What a rule is called with: each subject of a file (``LAUNCH``: one per scenario), or the project once a run.

    Rules on ``SUPPRESSION`` and ``STALE_BASELINE`` run last, when it is known what each suppression was needed for.
    """

    SCRIPT_PATH = "script path"  # str: the path of a shell script, unread
    SCRIPT = "script"  # launch.syntax.Script
    LAUNCH = "launch"  # launch.command.Launch, one for each scenario
    DEFAULT_LAUNCH = "default launch"  # the same in the default scenario only
    DOCUMENT = "document"
    WORKFLOW = "workflow"
    PYTHON_SOURCE = "python source"  # core.textfiles.PythonSource: a Python file that compiles
    TEXT = "text file"  # core.textfiles.TextFile
    PULL_REQUEST = "pull request"  # core.textfiles.PullRequest
    CONFIG_ENTRY = "configuration file"  # core.exemptions.Entry: one line of an ignore list in the file
    PROJECT = "project"  # core.project.Project
    SUPPRESSION = "suppression"  # core.suppressions.Suppression, after all findings are known
    STALE_BASELINE = "stale baseline entry"  # core.baseline.StaleEntry, after all findings are known

    @property
    def is_per_file(self) -> bool:
        """Whether the subject belongs to one file and can be judged without the findings of other rules."""
        return self is not Subject.PROJECT and not self.is_afterwards

    @property
    def is_afterwards(self) -> bool:
        """Whether rules on the subject look at what became of the findings of all others."""
        return self in (Subject.SUPPRESSION, Subject.STALE_BASELINE)

    @property
    def counted_as(self) -> str:
        """What a file with this subject is called in summaries."""
        return _COUNTED_AS.get(self.value, self.value)


_COUNTED_AS = {
    "script path": "script",
    "launch": "script",
    "default launch": "script",
    "configuration entry": "configuration file",
}


class Example(msgspec.Struct, frozen=True):
    """A file that shows a rule: ``bad`` ones give at least one finding of it, ``good`` ones none.

    ``files`` are further files of the small project in which the example stands.
    """

    text: str
    path: str = "examples/grpo_trainer/run_qwen3_8b_fsdp.sh"
    files: dict[str, str] = {}


class Context(Protocol):
    """What a rule may use besides its subject."""

    project: Project
    config: Config
    registry: Registry
    environment: Mapping[str, str]
    engine: str  # what evaluates launchers: bashkit or bash
    commands_allowed: bool  # whether commands that the configuration names may be run
    # For what rules of a family share within a run, by name. It must follow from the subject and the options alone;
    # what else is looked at goes through ``once``.
    cache: dict[str, Any]

    @property
    def cache_folder(self) -> Path | None:
        """Where what takes long may be kept between runs; None where nothing may be."""
        ...

    @property
    def entries(self) -> Sequence[Entry]:
        """The ignore entries of our configuration and of the lists bound to a family."""
        ...

    def options(self, family: str, kind: type[Options]) -> Options:
        """Return the options of a family as its struct."""
        ...

    def in_scope(self, path: str, roots: Sequence[str]) -> bool:
        """Return whether a file lies under one of ``roots``, or below a path outside all of them that the call names."""
        ...

    def once(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return what ``compute`` returns, called once in a run; what it looks at counts for all who ask."""
        ...

    def kept(self, key: str, kind: type[Kept], compute: Callable[[], Kept]) -> Kept:
        """Do as ``once``, and remember it between runs for as long as all that it looked at stays the same.

        It must follow from that and from the configuration, and be data that msgspec can write and read as ``kind``.
        """
        ...

    def memory(self, key: str, kind: type[Kept]) -> Kept:
        """Return what was worked out of texts alone, a dictionary by a digest of each text; ``kind`` is its type.

        What stands in it at the end of the run stands in it in the next one.
        """
        ...

    def load(self, subject: Subject, path: str) -> Sequence[object]:
        """Return the subjects of a file, read once per run; raises Uninspectable."""
        ...

    def apply(self, rule: type[Rule], path: str) -> Sequence[Finding]:
        """Return what one rule says of a file when nothing is ignored; raises Uninspectable."""
        ...

    def findings(self, family: str, path: str) -> Sequence[Finding]:
        """Return what a family says of a file when nothing is ignored; raises Uninspectable."""
        ...


class Rule:
    """A rule. Subclasses declare the class attributes; their docstring is what ``explain`` prints.

    ``source`` names the file, manual or issue that the constraint comes from, where it is not a convention.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]
    severity: ClassVar[Severity] = Severity.ERROR
    since: ClassVar[str] = "0.1"
    subject: ClassVar[Subject]
    source: ClassVar[str] = ""
    bad: ClassVar[tuple[Example, ...]] = ()
    good: ClassVar[tuple[Example, ...]] = ()

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether the rule judges this file at all (the project is "."); what no rule judges is not inspected."""
        del path, context
        return True

    @classmethod
    def prepare(cls, paths: Sequence[str], context: Context) -> None:
        """Start what takes its time outside of this process, and may be done when the rule is asked.

        ``paths`` are the files that the rule is about to judge, in order.
        """

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Yield what is wrong with ``subject``."""
        raise NotImplementedError

    @classmethod
    def finding(  # noqa: PLR0913  # the fields of a finding, by keyword
        cls,
        path: str,
        span: Span,
        message: str,
        *,
        severity: Severity | None = None,
        scenarios: tuple[str, ...] = (),
        related: tuple[Related, ...] = (),
        fix: Fix | None = None,
    ) -> Finding:
        """Return a finding of this rule; ``severity`` replaces the declared one."""
        return Finding(
            code=cls.code,
            name=cls.name,
            message=message,
            path=path,
            span=span,
            severity=severity or cls.severity,
            scenarios=scenarios,
            related=related,
            fix=fix,
        )


class Loaded(msgspec.Struct, frozen=True):
    """The subjects of one file, and what of it could not be inspected (one scenario of several, say)."""

    subjects: tuple[object, ...]
    problems: tuple[Finding, ...] = ()


class Loader(Protocol):
    """Makes the subjects of one kind from a file."""

    subject: Subject

    def matches(self, context: Context, path: str) -> bool:
        """Return whether the file is a subject of this kind, without reading more than its first line."""
        ...

    def load(self, context: Context, path: str) -> Loaded:
        """Return the subjects of a file; raises Uninspectable when there can be none."""
        ...


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration table of a family that has no keys."""


class Contents(NamedTuple):
    """What a family consists of: its rules in order, and the struct of its configuration table."""

    rules: tuple[type[Rule], ...]
    options: type[msgspec.Struct] = NoOptions


class Family:
    """A group of rules with one subcommand, one configuration table and one code prefix.

    The contents are loaded when they are first asked for, so that a run imports no family that has nothing to say.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # what there is to say of a family
        self,
        name: str,
        prefix: str,
        title: str,
        load: Callable[[], Contents],
        subjects: Collection[Subject] | None = None,
        options: Callable[[], type[msgspec.Struct]] | None = None,
    ) -> None:
        """Declare a family; ``load`` returns its contents.

        ``subjects`` are those of its rules. Where they are told, the rules are imported only for a file that is one of
        them; likewise ``options`` returns the struct of the configuration table without the rules.
        """
        self.name = name
        self.prefix = prefix
        self.title = title
        self._load = load
        self._subjects = None if subjects is None else frozenset(subjects)
        self._load_options = options

    @cached_property
    def _contents(self) -> Contents:
        return self._load()

    @property
    def rules(self) -> tuple[type[Rule], ...]:
        """The rules in the order of their codes."""
        return self._contents.rules

    @property
    def options(self) -> type[msgspec.Struct]:
        """The struct of the family's configuration table."""
        return self._load_options() if self._load_options else self._contents.options

    @property
    def subjects(self) -> frozenset[Subject]:
        """What its rules look at."""
        if self._subjects is None:
            return frozenset(rule.subject for rule in self.rules)
        return self._subjects


def iterate_rules(families: Iterable[Family]) -> Iterator[tuple[Family, type[Rule]]]:
    """Yield every rule with its family, in the order of declaration."""
    for family in families:
        for rule in family.rules:
            yield family, rule
