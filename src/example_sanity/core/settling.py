"""What becomes of the findings of a run: suppressed inline, by the configuration, or reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from example_sanity.core import suppressions, system
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Finding, with_fingerprints
from example_sanity.core.rule import Subject
from example_sanity.core.suppressions import Suppression

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from example_sanity.core.runner import Run, Scope


def settle(run: Run, findings: Iterable[Finding], scope: Scope) -> tuple[list[Finding], list[Finding]]:
    """Return the active and the suppressed findings, each sorted, those of rules that run afterwards included."""
    found = _fingerprinted(run, findings)
    files = sorted({*(finding.path for finding in found), *_commented(run, scope)})
    inline = [item for path in files for item in read_suppressions(run, path)]
    labelled, inline = suppressions.suppress(found, inline)
    uninspected = {finding.path for finding in found if finding.code.startswith(system.FAMILY.prefix)}
    after = _fingerprinted(run, _afterwards(run, scope, inline, uninspected))
    labelled += suppressions.suppress(after, inline)[0]
    labelled = sorted(_by_configuration(run, labelled), key=lambda finding: finding.sort_key)
    active = [finding for finding in labelled if finding.suppressed_by is None]
    return active, [finding for finding in labelled if finding.suppressed_by is not None]


def _fingerprinted(run: Run, findings: Iterable[Finding]) -> list[Finding]:
    ordered = sorted(dict.fromkeys(findings), key=lambda finding: finding.sort_key)
    return with_fingerprints(ordered, {finding.path: run.lines(finding.path) for finding in ordered})


def read_suppressions(run: Run, path: str) -> tuple[Suppression, ...]:
    """Return the inline suppressions of a file; none where it cannot be read or has no comments that we know."""
    reader = run.registry.comment_reader(run.project, path)
    try:
        if reader is None or suppressions.HINT.encode() not in run.project.read(path):
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


def _afterwards(
    run: Run, scope: Scope, inline: Iterable[Suppression], uninspected: Collection[str]
) -> Iterator[Finding]:
    """Judge the suppressions. What an environment of the user's own makes of a launcher says nothing of one."""
    checks = [rule().check for rule in scope.rules if rule.subject is Subject.SUPPRESSION]
    for item in inline if checks else ():
        unknown = item.path in uninspected or bool(run.environment)
        outcome = item if unknown else msgspec.structs.replace(item, judged=scope.judged(item.path, run))
        for check in checks:
            yield from check(outcome, run)


def _by_configuration(run: Run, findings: Sequence[Finding]) -> list[Finding]:
    matches: Mapping[int, frozenset[str]] = {
        number: frozenset(entry.match(run.project.all_files))
        for number, entry in enumerate(run.entries)
        if entry.rules
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
