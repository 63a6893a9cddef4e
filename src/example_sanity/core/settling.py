"""What becomes of the findings of a run: suppressed inline, by the configuration, or reported."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from example_sanity.core import suppressions, system
from example_sanity.core.baseline import LABEL, StaleEntry, Triple
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Finding, with_fingerprints
from example_sanity.core.rule import Subject
from example_sanity.core.suppressions import Suppression

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from example_sanity.core.runner import Run, Scope


class Settled(NamedTuple):
    """All findings, sorted and labelled, and the entries of the baseline that are gone."""

    findings: list[Finding]
    stale: list[Triple]


def settle(run: Run, findings: Iterable[Finding], scope: Scope) -> Settled:
    """Label the findings that are suppressed, and add those of the rules that run afterwards."""
    found = _fingerprinted(run, findings)
    files = sorted({*(finding.path for finding in found), *_commented(run, scope)})
    inline = [item for path in files for item in read_suppressions(run, path)]
    labelled, inline = suppressions.suppress(found, inline)
    uninspected = {finding.path for finding in found if finding.code.startswith(system.FAMILY.prefix)}
    after = _fingerprinted(run, _judge_suppressions(run, scope, inline, uninspected))
    labelled += suppressions.suppress(after, inline)[0]
    labelled = _by_baseline(run, _by_configuration(run, labelled))
    stale = _stale_entries(run, scope, labelled, uninspected)
    labelled += _by_configuration(run, _fingerprinted(run, _judge_baseline(run, scope, stale)))
    return Settled(sorted(labelled, key=lambda finding: finding.sort_key), stale)


def _fingerprinted(run: Run, findings: Iterable[Finding]) -> list[Finding]:
    ordered = sorted(dict.fromkeys(findings), key=lambda finding: finding.sort_key)
    return with_fingerprints(ordered, {finding.path: run.project.lines(finding.path) for finding in ordered})


def read_suppressions(run: Run, path: str) -> tuple[Suppression, ...]:
    """Return the inline suppressions of a file; none where it cannot be read or has no comments that we know."""
    reader = run.registry.comment_reader(run.project, path)
    try:
        if reader is None or not suppressions.may_hold(run.project.read(path)):
            return ()
        return suppressions.read(path, run.project.text(path), reader, run.registry)
    except Uninspectable:
        return ()


def _commented(run: Run, scope: Scope) -> Iterable[str]:
    """The files of the call that may hold suppressions, where a rule wants to know."""
    if not any(rule.subject is Subject.SUPPRESSION for rule in scope.rules):
        return ()
    under = (path for name in scope.named for path in run.project.under(name))
    return [path for path in under if not run.project.is_excluded(path)]


def _judge_suppressions(
    run: Run, scope: Scope, inline: Iterable[Suppression], uninspected: Collection[str]
) -> Iterator[Finding]:
    """Judge the suppressions. What an environment of the user's own makes of a launcher says nothing of one."""
    checks = [rule().check for rule in scope.rules if rule.subject is Subject.SUPPRESSION]
    for item in inline if checks else ():
        unknown = item.path in uninspected or bool(run.environment)
        outcome = item if unknown else msgspec.structs.replace(item, judged=scope.judged(item.path, run))
        for check in checks:
            yield from check(outcome, run)


def _by_baseline(run: Run, findings: Sequence[Finding]) -> list[Finding]:
    baseline = run.baseline
    if baseline is None:
        return list(findings)
    return [
        msgspec.structs.replace(finding, suppressed_by=LABEL)
        if finding.suppressed_by is None and baseline.holds(finding)
        else finding
        for finding in findings
    ]


def _stale_entries(
    run: Run, scope: Scope, findings: Iterable[Finding], uninspected: Collection[str]
) -> list[Triple]:
    """Return path, code and fingerprint of what the baseline holds, the run looked for, and is not there any more.

    Nothing is stale because a file could not be inspected, or because of an environment of the user's own.
    """
    wanted = any(rule.subject is Subject.STALE_BASELINE for rule in scope.rules)
    if not wanted or run.baseline is None or run.environment:
        return []
    there = {(item.path, item.code, item.fingerprint) for item in findings if item.suppressed_by == LABEL}
    ran = {rule.code for rule in scope.rules if scope.whole or rule.subject is not Subject.PROJECT}
    gone = [
        item
        for item in run.baseline.triples()
        if item not in there and scope.includes(item[0]) and item[0] not in uninspected
    ]
    return [item for item in gone if item[1] in ran or item[1] not in run.registry.rules]


def _judge_baseline(run: Run, scope: Scope, stale: Iterable[Triple]) -> Iterator[Finding]:
    checks = [rule().check for rule in scope.rules if rule.subject is Subject.STALE_BASELINE]
    for (path, code), group in itertools.groupby(stale, key=lambda item: item[:2]):
        assert run.baseline is not None
        line = run.baseline.line(path, code)
        entry = StaleEntry(path, code, len(list(group)), run.baseline.path, line)
        for check in checks:
            yield from check(entry, run)


def _by_configuration(run: Run, findings: Sequence[Finding]) -> list[Finding]:
    files = tuple(sorted({finding.path for finding in findings}))
    matches: Mapping[int, frozenset[str]] = {
        number: frozenset(entry.match(files)) for number, entry in enumerate(run.entries) if entry.rules
    }
    return [_label_by_entry(run, finding, matches) for finding in findings]


def _label_by_entry(run: Run, finding: Finding, matches: Mapping[int, frozenset[str]]) -> Finding:
    fitting = (
        run.entries[number]
        for number, files in matches.items()
        if finding.code in run.entries[number].rules and finding.path in files
    )
    by = None if finding.suppressed_by else next(fitting, None)
    if by is None:
        return finding
    reason = f": {by.reason}" if by.reason else ""
    return msgspec.structs.replace(finding, suppressed_by=f"{by.path}:{by.span.line} {by.list_name}{reason}")
