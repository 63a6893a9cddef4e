"""SARIF 2.1.0, for GitHub code scanning and other viewers.

Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0"; docs.github.com, "SARIF support for code
scanning" (paths relative to the top of the checkout, at most 25,000 results a run).
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from example_sanity import __version__
from example_sanity.report.json import encode
from example_sanity.report.model import DOCUMENTATION, is_whole_file, one_line, rule_url, sentence
from example_sanity.report.rules import fence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from example_sanity.core.finding import Edit, Finding, Fix, Related, Span
    from example_sanity.core.rule import Rule
    from example_sanity.report.model import View

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_Object = dict[str, Any]


def render(view: View) -> str:
    """Return one run: the rules that occur, the findings, and those that are suppressed with what suppresses them."""
    findings = [*view.report.findings, *view.report.suppressed]
    # Only rules that occur: all of them would make every log, and every upload, tens of kilobytes longer.
    named = {finding.code: finding for finding in sorted(findings, key=lambda item: item.code)}
    index = {code: number for number, code in enumerate(named)}
    driver = {
        "name": "example-sanity",
        "version": __version__,
        "informationUri": f"{DOCUMENTATION}/",
        "rules": [_rule(finding, view) for finding in named.values()],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(view.report.notes)],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The top of the checkout."}}},
        "results": [_result(finding, index[finding.code], view) for finding in findings],
    }
    return encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _invocation(notes: Sequence[str]) -> _Object:
    told = [{"message": {"text": one_line(note)}, "level": "note"} for note in notes]
    return {"executionSuccessful": True, **({"toolExecutionNotifications": told} if told else {})}


def _rule(finding: Finding, view: View) -> _Object:
    rule = view.rules().get(finding.code)
    descriptor: _Object = {"id": finding.code, "name": finding.name}
    if rule is None:
        return descriptor
    text = inspect.getdoc(rule) or rule.summary
    url = rule_url(finding, view)
    return {
        **descriptor,
        "shortDescription": {"text": f"{rule.summary[0].upper()}{rule.summary[1:]}."},
        "fullDescription": {"text": " ".join(text.split("\n\n")[0].split())},
        "help": {"text": _help(rule), "markdown": _help(rule)},
        **({"helpUri": url} if url else {}),
        "defaultConfiguration": {"level": _LEVELS[rule.severity.value]},
    }


def _help(rule: type[Rule]) -> str:
    parts = [inspect.getdoc(rule) or rule.summary]
    if rule.source:
        parts.append(f"Source of the rule: {rule.source}.")
    for title, examples in (("Bad", rule.bad), ("Good", rule.good)):
        for example in examples[:1]:
            mark = fence(example.text)
            parts.append(f"{title}:\n\n{mark}\n{example.text.rstrip()}\n{mark}")
    return "\n\n".join(parts)


def _result(finding: Finding, rule_index: int, view: View) -> _Object:
    result: _Object = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity.value],
        "message": {"text": sentence(finding)},
        "locations": [_location(finding.path, finding.span, view.prefix)],
        "partialFingerprints": {"exampleSanity/v1": finding.fingerprint},
    }
    if finding.related:
        result["relatedLocations"] = [
            _related(item, n, view.prefix) for n, item in enumerate(finding.related)
        ]
    if finding.fix:
        result["fixes"] = [_fix(finding.fix, view.prefix)]
    if finding.suppressed_by is not None:
        result["suppressions"] = [_suppression(finding.suppressed_by)]
    if finding.scenarios:
        result["properties"] = {"scenarios": list(finding.scenarios)}
    return result


def _location(path: str, span: Span, prefix: str) -> _Object:
    region = {"startLine": span.line} if is_whole_file(span) else _region(span)
    return {"physicalLocation": {"artifactLocation": _artifact(path, prefix), "region": region}}


def _artifact(path: str, prefix: str) -> _Object:
    # A URI: a colon in the first segment would read as a scheme, a byte that is no UTF-8 keeps its value.
    return {"uri": quote(prefix + path, errors="surrogateescape"), "uriBaseId": "SRCROOT"}


def _region(span: Span) -> _Object:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _related(item: Related, number: int, prefix: str) -> _Object:
    return {"id": number, **_location(item.path, item.span, prefix), "message": {"text": item.label}}


def _fix(fix: Fix, prefix: str) -> _Object:
    changed: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        changed.setdefault(edit.path, []).append(edit)
    changes = [
        {
            "artifactLocation": _artifact(path, prefix),
            "replacements": [
                {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
                for edit in edits
            ],
        }
        for path, edits in changed.items()
    ]
    return {"description": {"text": fix.title}, "artifactChanges": changes}


def _suppression(by: str) -> _Object:
    """A comment in the file itself is "inSource"; the configuration and the baseline are "external"."""
    kind = "inSource" if by.startswith("inline ") else "external"
    return {"kind": kind, "justification": one_line(by)}
