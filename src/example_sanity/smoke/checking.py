"""The last look before anything starts: the launch of a plan under our own rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from example_sanity.core.finding import Severity
from example_sanity.core.rule import Subject
from example_sanity.core.scope import Scope
from example_sanity.core.settling import settle
from example_sanity.parallel.constraint import stops
from example_sanity.smoke.steering import Refusal

if TYPE_CHECKING:
    from example_sanity.core.finding import Finding
    from example_sanity.core.runner import Run
    from example_sanity.parallel.models import ModelFacts
    from example_sanity.smoke.trial import Trial

_FAMILIES = ("mesh", "batch", "overrides", "flags")
# About the launcher's own guard over all of its sizes, not about this launch.
_OF_THE_GUARD = frozenset(("MSH003", "MSH004", "MSH005"))


def check(run: Run, trial: Trial, facts: ModelFacts | None) -> None:
    """Raise Refusal where a rule has an error against the launch; ``facts`` are those of the model that it loads."""
    found = [*_of_the_mesh(trial, facts), *_of_rules(run, trial)]
    if found:
        listed = "".join(f"\n  {text}" for text in dict.fromkeys(found))
        raise Refusal(f"{trial.launch.script.path} would not start as planned:{listed}")


def _of_the_mesh(trial: Trial, facts: ModelFacts | None) -> Iterator[str]:
    mesh = trial.mesh(lambda _: facts)
    for violation in mesh.violations if mesh else ():
        if stops([violation.constraint]):
            yield f"{violation.constraint.code} {violation.message}"


def _of_rules(run: Run, trial: Trial) -> Iterator[str]:
    """Yield the errors that rules find and nobody has suppressed, in the script, by configuration or in the baseline."""
    path = trial.launch.script.path
    for finding in settle(run, _findings(run, trial), Scope((), (path,), (path,))).findings:
        if finding.severity is Severity.ERROR and finding.suppressed_by is None:
            yield f"{finding.code} {finding.message} ({finding.path}:{finding.span.line})"


def _findings(run: Run, trial: Trial) -> Iterator[Finding]:
    ignored = run.registry.resolve_all(run.config.ignore, "ignore") | _OF_THE_GUARD
    for family in _FAMILIES:
        for rule in run.registry.family(family).rules:
            if rule.subject in (Subject.LAUNCH, Subject.DEFAULT_LAUNCH) and rule.code not in ignored:
                yield from rule().check(trial.launch, run)
