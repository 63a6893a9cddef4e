"""ENV006, ENV007: the comment at the top of a launcher against its knobs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from example_sanity.checks.docs.literals import UNKNOWN, literal, same
from example_sanity.checks.docs.literals import shown as value_shown
from example_sanity.checks.knobs.base import KnobRule
from example_sanity.core.finding import Edit, Fix, Related, Severity, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example
from example_sanity.launch.syntax import DefaultKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.knobs.layout import Layout
    from example_sanity.core.finding import Finding
    from example_sanity.launch.syntax import Assignment, Script

# "#   TP    tensor parallel (default: 2)", "#   TP: ... [default 2]", "#   TP=2   tensor parallel".
_ENTRY = regex(r"#\s+(?:[-*]\s+)?([A-Z][A-Z0-9_]+)(?:=(\S+)(?=\s{2,}|\s*$|\s+#)|\s{2,}\S|\s*:\s|\s+-\s)")
_DEFAULT = regex(r"[(\[,;]\s*defaults?(?:\s+to)?\s*[:=]?\s*([^\s()\[\],;]+)\s*[)\],;]", re.IGNORECASE)
_KNOBS = (
    "# Knobs:\n#   TP        tensor parallel (default: %s)\n#   PP        pipeline parallel (default: 1)\n"
)
_SETS = "TP=${TP:-2}\nPP=${PP:-1}\npython3 train.py tp=$TP pp=$PP\n"


class _Entry(NamedTuple):
    """A knob that the header describes: its name, the default that it gives, and where."""

    name: str
    default: str | None
    line: int
    start: int
    end: int


def entries(script: Script) -> list[_Entry]:
    """Return the knobs that the comment at the top of a script describes."""
    found = []
    for number, line in enumerate(script.lines, 1):
        if line.strip() and not line.startswith("#"):
            break
        entry = _ENTRY.match(line)
        if entry is None:
            continue
        said = _DEFAULT.search(line, entry.end(1))
        place = said.span(1) if said else entry.span(2) if entry[2] else entry.span(1)
        found.append(_Entry(entry[1], said[1] if said else entry[2], number, *place))
    return found


def _knobs(script: Script) -> dict[str, list[Assignment]]:
    """The assignments behind each variable that the user may set."""
    found: dict[str, list[Assignment]] = {}
    for item in script.assignments:
        if item.kind is DefaultKind.OVERRIDABLE and item.via and item.via.isidentifier():
            found.setdefault(item.via, []).append(item)
    return found


class UndocumentedKnob(KnobRule):
    """The comment at the top of a launcher describes its knobs, but leaves one out.

    It counts as a description when it names at least three knobs and most of those in the knob region. Add a line, or
    move what is no knob below the region.
    """

    code = "ENV006"
    name = "undocumented-knob"
    summary = "the header describes the knobs, and leaves one out"
    severity = Severity.INFO
    bad = (
        Example(
            "# Knobs:\n#   TP   tensor parallel\n#   PP   pipeline parallel\n#   CP   context parallel\n\n"
            "# ---- knobs ----\nTP=${TP:-1}\nPP=${PP:-1}\nCP=${CP:-1}\nEP=${EP:-1}\n# ---- end knobs ----\n"
            "python3 train.py $TP $PP $CP $EP\n"
        ),
    )
    good = (Example(_KNOBS % 2 + _SETS),)

    def _judge(self, layout: Layout, context: Context) -> Iterator[Finding]:
        del context
        described = {entry.name for entry in entries(layout.script)}
        knobs = {
            name: items[0]
            for name, items in _knobs(layout.script).items()
            if layout.region_at(items[0].span.line) is not None
        }
        known = described & set(knobs)
        if len(known) < 3 or len(known) * 10 < len(knobs) * 6:
            return
        for name, item in knobs.items():
            if name not in described and not re.search(rf"^#.*\b{name}\b", layout.script.text, re.MULTILINE):
                text = f"the header describes {len(known)} of {len(knobs)} knobs, and not {name}"
                yield self.finding(layout.script.path, item.span, text)


class WrongDocumentedDefault(KnobRule):
    """The comment at the top of a launcher gives another default for a knob than the launcher has.

    Compared are plain values; a default that depends on other variables is passed over, and where a knob has several
    (one for each device, say), one that agrees is enough.
    """

    code = "ENV007"
    name = "wrong-documented-default"
    summary = "the header gives another default than the script has"
    severity = Severity.WARNING
    bad = (Example(_KNOBS % 4 + _SETS),)
    good = (Example(_KNOBS % 2 + _SETS),)

    def _judge(self, layout: Layout, context: Context) -> Iterator[Finding]:
        del context
        script = layout.script
        knobs = _knobs(script)
        for entry in entries(script):
            said = UNKNOWN if entry.default is None else literal(entry.default.strip("`."))
            items = knobs.get(entry.name, [])
            values = [literal(item.default or "") for item in items]
            if not items or any(same(said, value) for value in values):
                continue
            right = value_shown(values[0])
            span = Span(entry.line, entry.start + 1, entry.line, entry.end + 1)
            certain = len(items) == 1 and right != "empty"
            fix = Fix(f"write {right}", (Edit(script.path, span, right),)) if certain else None
            yield self.finding(
                script.path,
                span,
                f"the default of {entry.name} is {right}, not {entry.default}",
                related=(Related(script.path, items[0].span, "the default"),),
                fix=fix,
            )
