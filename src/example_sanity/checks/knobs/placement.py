"""ENV001 and ENV002: knobs that stand outside the regions, and what stands in them without being a knob."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.checks.knobs.base import KnobRule, shown
from example_sanity.checks.knobs.layout import lines_of
from example_sanity.checks.knobs.pairing import pair
from example_sanity.core.finding import Edit, Finding, Fix, Severity, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example
from example_sanity.launch.syntax import DefaultKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.knobs.layout import Layout
    from example_sanity.launch.syntax import Assignment, Region

_COMMAND = regex(r"\$\((?!\()|`|[<>]\(")
_PLAIN = regex(r"[\w./:@%+,-]*")
_SETTERS = frozenset({"source", ".", "eval", "unset"})
_CONSTANT = regex(r"\s*(?:readonly\b|(?:declare|typeset)\s+-\w*r)")


class KnobOutsideRegion(KnobRule):
    """A default that the environment can override stands outside every knob region of the script.

    Who looks for what can be changed reads the region and nothing else. A region is what stands between
    ``# ---- user-adjustable ----`` and ``# ---- end user-adjustable ----``, in any style of dashes or hashes and with
    any title; a heading that has no end opens none. Scripts without a region are not judged.

    Not reported: defaults below a heading such as ``derived defaults``; a second default of a knob that a region has
    (``TP=${TP:-2}`` below it); defaults in branches and functions; defaults that are made from other variables of the
    script; exported variables that the script does not read, which are the environment of its program.
    """

    code = "ENV001"
    name = "knob-outside-region"
    summary = "an overridable default stands outside every knob region"
    bad = (
        Example(
            "# ---- user-adjustable ----\nTP=${TP:-2}\n# ---- end user-adjustable ----\n\n"
            "NNODES=${NNODES:-1}\ntorchrun --nnodes=$NNODES train.py --tp $TP\n"
        ),
    )
    good = (
        Example(
            "# ---- user-adjustable ----\nTP=${TP:-2}\nNNODES=${NNODES:-1}\n# ---- end user-adjustable ----\n\n"
            'export CUDA_DEVICE_MAX_CONNECTIONS="${CUDA_DEVICE_MAX_CONNECTIONS:-1}"\n'
            "torchrun --nnodes=$NNODES train.py --tp $TP\n"
        ),
    )

    def _judge(self, layout: Layout, context: Context) -> Iterator[Finding]:
        # Where a marker is missing, what looks stray may stand in the region that was meant: one mistake, one finding.
        if not layout.regions or not pair(layout).is_balanced:
            return
        for item in layout.script.assignments:
            if _is_stray(item, layout):
                region = layout.nearest_region(item.span.line)
                source = "the environment" if item.via == item.name else item.via
                yield self.finding(
                    layout.script.path,
                    item.span,
                    f"{item.name} is a knob outside every knob region ({source} overrides its default, "
                    f"{shown(item.default)}); {_way_in(item, region, layout)}, or put it below a heading 'derived defaults'",
                    related=(layout.related(region),),
                    fix=_move(item, region, layout),
                )


def _way_in(item: Assignment, region: Region, layout: Layout) -> str:
    line, lines = item.span.line, lines_of(region)
    if any(r.name == item.name and line < r.span.line < region.first_line for r in layout.script.reads):
        return f"begin '{region.title}' ({lines}) above it, as it is read before the region"
    return f"move it into '{region.title}' ({lines})"


def _is_stray(item: Assignment, layout: Layout) -> bool:
    line = item.span.line
    if item.kind is not DefaultKind.OVERRIDABLE or item.conditional or item.function is not None:
        return False
    if item.via is None or item.via.isdigit() or {item.via, item.name} & layout.knob_names:
        return False
    if layout.region_at(line) or layout.is_derived(line) or layout.is_wiring(item):
        return False
    # A default that is made from the script's own variables is a derived one, heading or not.
    earlier = {a.name for a in layout.script.assignments if a.start < item.start}
    return not (set(item.reads) - {item.via, item.name}) & earlier


def _move(item: Assignment, region: Region, layout: Layout) -> Fix | None:
    """Move a whole line to the near edge of a region, where nothing on the way reads or sets what it is about."""
    line = item.span.line
    text = layout.script.lines[line - 1].rstrip("\r")
    if not re.fullmatch(rf"(?:export\s+)?{item.name}=\S+\s*(?:#.*)?", text) or _COMMAND.search(item.value):
        return None
    target = region.last_line + 1 if line > region.last_line else region.first_line
    low, high = sorted((target, line))
    set_there = {a.name for a in layout.script.assignments if low <= a.span.line <= high and a is not item}
    read_there = {r.name for r in layout.script.reads if low <= r.span.line <= high and r.span.line != line}
    run_there = {site.name for site in layout.script.commands if low <= site.span.line <= high}
    if set_there & {item.name, *item.reads} or item.name in read_there or run_there & _SETTERS:
        return None
    path = layout.script.path
    insert = Edit(path, Span(target, 1, target, 1), f"{text}\n")
    return Fix(
        f"move {item.name} into '{region.title}'", (insert, Edit(path, Span(line, 1, line + 1, 1), ""))
    )


class FixedKnob(KnobRule):
    """A variable in a knob region has a fixed value: it is changed by editing the file, and not from outside.

    A region promises that ``NAME=value bash run.sh`` works. Values that are made from other variables or by a command,
    arrays, variables that the script sets more than once, constants (``readonly``), and exported variables that the
    script does not read are no knobs and are not reported.
    """

    code = "ENV002"
    name = "fixed-knob"
    summary = "a variable in a knob region cannot be overridden from the environment"
    severity = Severity.WARNING
    bad = (
        Example(
            "# ---- user-adjustable ----\nNNODES=4\n# ---- end user-adjustable ----\n\n"
            "torchrun --nnodes=$NNODES train.py\n"
        ),
    )
    good = (
        Example(
            "# ---- user-adjustable ----\nNNODES=${NNODES:-4}\nworld=$((NNODES * 8))\n"
            "# ---- end user-adjustable ----\n\ntorchrun --nnodes=$NNODES train.py --world $world\n"
        ),
    )

    def _judge(self, layout: Layout, context: Context) -> Iterator[Finding]:
        for item in layout.script.assignments:
            region = layout.region_at(item.span.line)
            if region and _is_fixed(item, layout):
                variable = _variable(item, region, layout)
                fixable = "}" not in item.value
                right = f"{item.name}=${{{variable}:-{quoted(item.value) if fixable else '...'}}}"
                yield self.finding(
                    layout.script.path,
                    item.span,
                    f"{item.name} is fixed ({shown(item.value)}): the environment cannot change it, although it stands in "
                    f"'{region.title}'; write {right}, or move it out of the region",
                    related=(layout.related(region),),
                    fix=Fix(f"write {right}", (Edit(layout.script.path, item.span, right),))
                    if fixable
                    else None,
                )


def _is_fixed(item: Assignment, layout: Layout) -> bool:
    if item.kind is not DefaultKind.FIXED or item.array or item.append or item.conditional:
        return False
    if item.function is not None or item.reads or _COMMAND.search(item.value):
        return False
    # A value of several lines is a bundle of options, not a setting.
    if (
        item.span.line != item.span.end_line
        or item.name not in layout.assigned_once
        or layout.options.is_provided(item.name)
    ):
        return False
    # One that nothing reads is the business of unused-knob, or the environment of the program.
    return item.name in layout.read_names and not _CONSTANT.match(layout.script.lines[item.span.line - 1])


def _variable(item: Assignment, region: Region, layout: Layout) -> str:
    """The variable of the environment to read: the name in capitals, unless the region does it otherwise."""
    neighbours = [a for a in layout.script.assignments if layout.region_at(a.span.line) == region]
    # A region that takes its lower-case names from the environment as they are goes on to do so.
    plain = any(a.via == a.name and a.name == a.name.lower() for a in neighbours)
    capitals = item.name.upper()
    taken = capitals in layout.script.assigned | layout.read_names or layout.options.is_provided(capitals)
    return item.name if plain or taken else capitals


def quoted(value: str) -> str:
    """Return a literal as a default word, without quotes that it does not need."""
    inner = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
    return inner if _PLAIN.fullmatch(inner) else value
