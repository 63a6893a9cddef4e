"""OVR001-018: the overrides of a launch against the configuration that the program composes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from example_sanity.checks.overrides import examples as shown
from example_sanity.checks.overrides.issues import fix, place
from example_sanity.core.finding import Finding, Severity
from example_sanity.core.rule import Context, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.launch.command import Launch

_LOADER = "hydra/_internal/config_loader_impl.py (hydra-core 1.3)"


class _OverrideRule(Rule):
    """Reports the issues of one code."""

    subject = Subject.LAUNCH

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Yield a finding for each issue of each entry."""
        # A run that finds everything in the cache needs none of it.
        from example_sanity.checks.overrides.inspection import inspect

        launch = cast("Launch", subject)
        for item in inspect(launch, context):
            for issue in item.issues:
                if issue.code == self.code:
                    site = item.entry.command.site
                    path, span = (
                        place(issue.setting, launch.script) if issue.setting else (site.path, site.span)
                    )
                    yield self.finding(
                        path,
                        span,
                        issue.message,
                        severity=issue.severity,
                        scenarios=(launch.scenario.name,),
                        fix=fix(issue, launch.script),
                    )


class UnknownKey(_OverrideRule):
    """An override sets a key that the composed configuration does not have.

    Hydra's configuration is closed: without a plus only keys that exist can be set, and the launch ends before it has
    begun. So does a program that lays ``OmegaConf.from_cli()`` over a dataclass without Hydra. The message names the commit and release that renamed the key where the framework's history tells, else
    the key that was probably meant: the same name elsewhere, then a similar one. Overrides that all fail for one reason (a wrong ``model_engine``) are one finding, at the word
    to change.
    """

    code = "OVR001"
    name = "unknown-key"
    summary = "an override sets a key that the configuration does not have"
    source = _LOADER
    bad = (shown.bad("trainer.nnode=2"),)
    good = (shown.good("trainer.nnodes=2"),)


class MissingPlus(_OverrideRule):
    """An override sets a key that only a plus can add.

    The place is right, a dict that is meant to be filled or a field that the program's class has, but the key is not in the
    configuration: write ``+key=value``.
    """

    code = "OVR002"
    name = "missing-plus"
    summary = "a key that must be added with + is set without it"
    source = _LOADER
    bad = (shown.bad("trainer.extra.seed=1"),)
    good = (shown.good("+trainer.extra.seed=1"),)


class SuperfluousPlus(_OverrideRule):
    """An override adds a key that exists.

    Hydra refuses ``+key=value`` where there is a value already; drop the plus. A null may be replaced either way, and
    lists and dicts are merged.
    """

    code = "OVR003"
    name = "superfluous-plus"
    summary = "a key that exists is added with +"
    source = _LOADER
    bad = (shown.bad("+trainer.nnodes=2"),)
    good = (shown.good("trainer.nnodes=2"), shown.good("++trainer.nnodes=2"))


class WrongType(_OverrideRule):
    """The value of an override has a type that its key cannot take.

    An error where a dataclass of the program declares the type, a warning where only the default in the YAML suggests
    one. Whole numbers and others stand for each other, and what is text in YAML may be a list (one file or several).
    """

    code = "OVR004"
    name = "wrong-type"
    summary = "the value has a type that the key cannot take"
    bad = (shown.bad("optim.lr=fast"),)
    good = (shown.good("optim.lr=1e-4"), shown.good("trainer.save=after_each_epoch"))


class BadChoice(_OverrideRule):
    """The value of an override is none of those that the program accepts.

    The choices are those of a ``Literal`` or of an assertion in the dataclass behind the key.
    """

    code = "OVR005"
    name = "bad-choice"
    summary = "the value is none of those that the program accepts"
    bad = (shown.bad("optim.schedule=cosin"),)
    good = (shown.good("optim.schedule=cosine"),)


class MissingModule(_OverrideRule):
    """The launcher starts a module that its package does not have.

    ``python -m`` ends at once. Where the module was moved, the nearest name is given.
    """

    code = "OVR006"
    name = "missing-module"
    summary = "python -m names a module that does not exist"
    bad = (shown.bad("trainer.nnodes=2", module="app.trainn"),)
    good = (shown.good("trainer.nnodes=2"),)


class MissingConfig(_OverrideRule):
    """The configuration that the program starts from does not exist, or Hydra cannot compose it.

    Looked at are ``@hydra.main`` and the flags ``--config-path``, ``--config-name`` and ``--config-dir``.
    """

    code = "OVR007"
    name = "missing-config"
    summary = "the configuration of the program does not exist or cannot be composed"
    source = _LOADER
    bad = (shown.bad("--config-name=trian", "trainer.nnodes=2"),)
    good = (shown.good("--config-name=train", "trainer.nnodes=2"),)


class ReAddedKey(_OverrideRule):
    """An override brings back a key that was removed from the configuration.

    With a plus Hydra takes any key, and nothing reads it: the option has no effect. The message says which commit and release
    removed the key, and what it is now, as the framework's history tells.
    """

    code = "OVR008"
    name = "re-added-key"
    summary = "a key that was removed is added again, without effect"
    severity = Severity.WARNING
    bad = (shown.shipped("+trainer.use_legacy_worker_impl=disable"),)
    good = (shown.shipped("trainer.nnodes=2"),)


class DeprecatedKey(_OverrideRule):
    """An override sets a field that the program's class calls deprecated."""

    code = "OVR009"
    name = "deprecated-key"
    summary = "the program calls the key deprecated"
    severity = Severity.INFO
    bad = (shown.bad("optim.warmup=10"),)
    good = (shown.good("optim.schedule=cosine"),)


class DuplicateOverride(_OverrideRule):
    """One command line sets a key to two different values; the last one counts.

    Reported where both stand in one array, or both outside of any: what a later array changes is meant to be changed.
    """

    code = "OVR010"
    name = "duplicate-override"
    summary = "a key is set twice to different values"
    severity = Severity.WARNING
    bad = (shown.bad("trainer.nnodes=2", "trainer.nnodes=4"),)
    good = (shown.good("trainer.nnodes=2"),)


class PlaceholderLeft(_OverrideRule):
    """A value still holds a placeholder, ``<...>`` or ``path/to``.

    An error where Hydra cannot even read it. An environment variable with a default, or ``${NAME:?...}``, asks the user in a
    way that cannot be forgotten.
    """

    code = "OVR011"
    name = "placeholder-left"
    summary = "a value still holds a placeholder"
    bad = (shown.bad("data.path=/path/to/data"),)
    good = (shown.good("data.path=${DATA:?}"),)


class UnknownOption(_OverrideRule):
    """A config group has no such option, or the defaults list no such entry."""

    code = "OVR012"
    name = "unknown-option"
    summary = "a config group has no such option"
    source = "hydra/_internal/defaults_list.py (hydra-core 1.3)"
    bad = (shown.bad("optim=adan"),)
    good = (shown.good("optim=adam"),)


class UnknownField(_OverrideRule):
    """An override adds a key to a dict of which the program makes an object, and the class has no such field.

    Hydra composes it; the constructor then fails, often only after the workers have started. Reported only for nodes
    that the program turns into objects of a dataclass that is known as a whole.
    """

    code = "OVR013"
    name = "unknown-field"
    summary = "a key is added that the class behind the node does not take"
    bad = (shown.bad("+optim.momentun=0.9"),)
    good = (shown.good("+optim.momentum=0.9"),)


class ListAsText(_OverrideRule):
    """A list reaches Hydra in quotes of its own, so that it is text.

    The shell takes one pair of quotes off; a second one inside, as in ``"key='[0.9,0.95]'"``, is part of the value.
    """

    code = "OVR014"
    name = "list-as-text"
    summary = "quotes inside the word turn a list into text"
    severity = Severity.WARNING
    bad = (shown.bad("\"optim.betas='[0.9,0.95]'\""),)
    good = (shown.good("optim.betas='[0.9,0.95]'"),)


class SplitList(_OverrideRule):
    """A list with spaces is not quoted, so the shell makes several words of it."""

    code = "OVR015"
    name = "split-list"
    summary = "the shell splits a list into several words"
    bad = (shown.bad("optim.betas=[0.9, 0.95]"),)
    good = (shown.good("'optim.betas=[0.9, 0.95]'"),)


class EmptySearchPath(_OverrideRule):
    """An entry of ``hydra.searchpath`` leads nowhere.

    Hydra only warns and goes on; what fails is a group option that was to come from there, with a message that leads astray.
    """

    code = "OVR016"
    name = "empty-search-path"
    summary = "an entry of hydra.searchpath leads nowhere"
    source = _LOADER
    bad = (shown.bad("hydra.searchpath=[pkg://app.confs]"),)
    good = (shown.good("hydra.searchpath=[pkg://app.config]"),)


class UnresolvedProgram(_OverrideRule):
    """The program or a package of its search path was found nowhere, so nothing is said of the overrides.

    Looked at are the project, ``source-roots`` of ``[tool.example-sanity]``, what is installed, and the
    schemas that ship with the tool. Configure ``source-roots`` where the source lies elsewhere.
    """

    code = "OVR017"
    name = "unresolved-program"
    summary = "the program was found nowhere: its overrides are not checked"
    severity = Severity.INFO
    bad = (shown.bad("trainer.nnodes=2", module="nowhere.train"),)
    good = (shown.good("trainer.nnodes=2"),)


class MalformedOverride(_OverrideRule):
    """A word is no override that Hydra can read, or asks for a sweep without ``--multirun``."""

    code = "OVR018"
    name = "malformed-override"
    summary = "a word is no override that Hydra can read"
    source = "hydra/grammar/OverrideParser.g4 (hydra-core 1.3)"
    bad = (shown.bad("trainer.name=a=b"),)
    good = (shown.good("\"trainer.name='a=b'\""),)


class UnresolvedReference(_OverrideRule):
    """A value refers to a key that does not exist.

    ``${data.size}`` is looked up when the program reads the value, or resolves the whole configuration, and fails there. An
    error where the launcher wrote the reference or deleted its target; a warning where the configuration itself is
    broken, as that part may never be read.
    """

    code = "OVR019"
    name = "unresolved-reference"
    summary = "a value refers to a key that does not exist"
    source = "omegaconf, InterpolationKeyError"
    bad = (shown.bad("'trainer.name=${data.model}'"),)
    good = (shown.good("'trainer.name=${data.path}'"),)


class MissingRequiredKey(_OverrideRule):
    """A mandatory key is left without a value.

    ``???`` in a configuration, or a field without default of a class that the program makes of a node: the launcher has to
    set it. A key below a node that is switched off (``enable: false``) is not read. A warning where the launcher hands on its own
    arguments: then the caller may set it.
    """

    code = "OVR020"
    name = "missing-required-key"
    summary = "a mandatory key is left without a value"
    source = "omegaconf, MissingMandatoryValue; the class behind the node"
    bad = (shown.bad("trainer.nnodes=2", "--config-name=bare"),)
    good = (
        shown.good("trainer.nnodes=2", "--config-name=bare", "trainer.name=x", "+optim.size=1"),
        shown.good("trainer.nnodes=2"),
    )


class UnreadKey(_OverrideRule):
    """An override adds a key below a name that neither the configuration nor the program has.

    With ``+`` or ``++`` Hydra takes any key. Where the first part of it is in no file of the program, nothing can read it:
    the override has no effect, and no message says so.
    """

    code = "OVR021"
    name = "unread-key"
    summary = "a key is added below a name that nothing reads"
    severity = Severity.WARNING
    bad = (shown.bad("++trainr.nnodes=2"),)
    good = (shown.good("++trainer.nnodes=2"), shown.good("++config.nnodes=2"))


RULES = (
    UnknownKey,
    MissingPlus,
    SuperfluousPlus,
    WrongType,
    BadChoice,
    MissingModule,
    MissingConfig,
    ReAddedKey,
    DeprecatedKey,
    DuplicateOverride,
    PlaceholderLeft,
    UnknownOption,
    UnknownField,
    ListAsText,
    SplitList,
    EmptySearchPath,
    UnresolvedProgram,
    MalformedOverride,
    UnresolvedReference,
    MissingRequiredKey,
    UnreadKey,
)
