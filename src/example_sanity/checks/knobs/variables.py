"""ENV003 and ENV005: variables that are set and never read, or read and never set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.checks.knobs import sourcing
from example_sanity.checks.knobs.base import KnobRule
from example_sanity.core.errors import nearest
from example_sanity.core.finding import Edit, Finding, Fix, Severity, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example
from example_sanity.launch.syntax import DefaultKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from example_sanity.checks.knobs.layout import Layout
    from example_sanity.launch.syntax import Assignment, Read, Script

_IDENTIFIER = regex(r"[A-Za-z_]\w*")
_NOUNSET_SHEBANG = regex(r"#!.*sh\s+-\w*u")
# Statements that may set any variable.
_DEFINES_ANY = regex(
    r"(?<![\w./-])(?:eval\b|(?:export|declare|local|typeset|readonly)[ \t]+(?:-\w+[ \t]+)*[\"']?\$|printf[ \t]+-v[ \t]+[\"']?\$)"
)


class UnusedKnob(KnobRule):
    """A variable is set and then never read, nor exported: setting it, from outside or in the file, has no effect.

    Either the command lost the option that it was meant for (an array of options that is never passed loses all of
    them), or the variable can go. Where the program reads it from its environment it must be exported.

    Not reported: variables that any text of the script expands, quoted code included; any variable whose name occurs in
    a script that looks variables up by name (``${!name}``, ``eval``, ``envsubst``); scripts that source, or are sourced
    by, something that cannot be looked into; locals of functions; variables that bash or the machine own (PATH, IFS).
    """

    code = "ENV003"
    name = "unused-knob"
    summary = "a variable is set, never read and not exported"
    severity = Severity.WARNING
    bad = (
        Example("TP=${TP:-2}\nPP=${PP:-1}\ntorchrun train.py --tp $TP\n"),
        Example("DATA=(data.train_files=a)\nACTOR=(actor.lr=1e-6)\npython3 -m trainer ${DATA[@]}\n"),
    )
    good = (
        Example("TP=${TP:-2}\nexport NCCL_DEBUG=${NCCL_DEBUG:-WARN}\ntorchrun train.py --tp $TP\n"),
        Example("TP=${TP:-2}\nfor name in TP; do echo $name=${!name}; done\nbash -c 'torchrun train.py'\n"),
    )

    def _judge(self, layout: Layout, context: Context) -> Iterator[Finding]:
        unused = {a.name: a for a in reversed(layout.script.assignments) if _is_unused(a, layout)}
        if (
            not unused
            or not layout.is_launcher
            or layout.script.errors
            or sourcing.is_sourced(layout.script, context.project)
        ):
            return
        others = sourcing.sourced(layout.script, context)
        if others is None:
            return
        # Sourced files run in the same shell: a word there may be a read, however it is written.
        known = {word for other in others for word in _IDENTIFIER.findall(other.text)}
        for item in sorted(unused.values(), key=lambda a: a.start):
            if item.name not in known:
                yield self.finding(layout.script.path, item.span, _unused_message(item, layout))


def _is_unused(item: Assignment, layout: Layout) -> bool:
    # A required variable comes from the environment, so the program gets it in any case.
    if item.kind is DefaultKind.REQUIRED or item.function is not None or item.name.startswith("_"):
        return False
    if item.exported or item.name in layout.read_names:
        return False
    return not layout.options.is_provided(item.name)


def _unused_message(item: Assignment, layout: Layout) -> str:
    if item.array:
        words = sum(len(array.words) for array in layout.script.arrays if array.name == item.name)
        what = f'its {words} words reach no command; add "${{{item.name}[@]}}" to one'
        return f"the array {item.name} is never read: {what}, or remove it"
    subject = item.name if item.via in (None, item.name) else f"{item.name} (from {item.via})"
    return (
        f"{subject} is never read, so setting it has no effect; pass ${{{item.name}}} to a command, export it if the program "
        "reads it, or remove it"
    )


class UnboundVariable(KnobRule):
    """A variable is read, but nothing sets it and it has no default.

    Under ``set -u`` the script stops there; without it, the variable expands to nothing and the command gets an empty or
    missing argument (a warning then). A variable that the caller must set is written ``${NAME:?what to set}``: it stops
    with a message that says so.

    Not reported: names that the machine, the scheduler or the process launcher provides (``provided``); names that the
    script tests, or expands with a default, anywhere; names that a sourced file, a calling script, a workflow or a README
    that shows how to start the script sets; scripts that source something that cannot be looked into, or that set
    variables by computed names.
    """

    code = "ENV005"
    name = "unbound-variable"
    summary = "a variable is read that nothing sets"
    bad = (
        Example("set -euo pipefail\ntorchrun train.py --load $CHECKPOINT\n"),
        Example("MODEL_PATH=${MODEL_PATH}\ntorchrun train.py --model $MODEL_PATH\n"),
    )
    good = (
        Example("set -euo pipefail\ntorchrun train.py --load ${CHECKPOINT:?set CHECKPOINT}\n"),
        Example(
            'set -euo pipefail\nsource "$(dirname "$0")/env.sh"\ntorchrun --nnodes=$SLURM_NNODES train.py\n',
            files={"examples/grpo_trainer/env.sh": "export NCCL_DEBUG=WARN\n"},
        ),
    )

    def _judge(self, layout: Layout, context: Context) -> Iterator[Finding]:
        script = layout.script
        unbound = _unbound(layout) if layout.is_launcher else {}
        if not unbound or script.errors or _DEFINES_ANY.search(script.text):
            return
        others = sourcing.sourced(script, context)
        if others is None:
            return
        known = {name for other in others for name in other.assigned}
        strict = _is_strict(script)
        for name, reads in unbound.items():
            if name in known or sourcing.is_passed_by_caller(name, script, context.project):
                continue
            if strict or not any(_is_tested(read, script) or _is_passed_on(read, script) for read in reads):
                yield self._report(name, reads, strict, script)

    def _report(self, name: str, reads: Sequence[Read], strict: bool, script: Script) -> Finding:
        meant = _meant(reads[0], script)
        hint = f"did you mean {meant}? Otherwise " if meant else ""
        array = all(_is_all_elements(read, script) for read in reads)
        if array:
            effect, way = "it expands to nothing", "fill it or remove it"
        elif strict:
            effect = f"under set -u the run stops here ('{name}: unbound variable') unless the caller sets it"
            way = f"give it a default, or demand it with ${{{name}:?set {name}}}"
        else:
            effect = "it expands to nothing unless the caller sets it"
            way = f"give it a default, or demand it with ${{{name}:?set {name}}}"
        return self.finding(
            script.path,
            reads[0].span,
            f"{name} is read{_count(reads)}, but nothing sets it: {effect}; {hint}{way}",
            severity=Severity.ERROR if strict and not array else Severity.WARNING,
            fix=_separate(reads[0], meant, script) or _demand(reads[0], strict, script),
        )


def _meant(read: Read, script: Script) -> str | None:
    """What a read was probably meant to be: ``${A}_b`` for ``$A_b``, or the most similar name that is set."""
    name = read.name
    if name in ("True", "False"):
        return f"the word {name}"
    if script.data[: read.start].endswith(b"$"):
        before = {item.name for item in script.assignments if item.end <= read.start and not item.array}
        heads = [other for other in before if name.startswith(f"{other}_")]
        if heads:
            head = max(heads, key=len)
            return f"${{{head}}}{name.removeprefix(head)}"
    return nearest(name, script.assigned - {name}, 85)


def _separate(read: Read, meant: str | None, script: Script) -> Fix | None:
    """Write ``${A}_b`` for ``$A_b``."""
    if meant is None or not meant.startswith("$"):
        return None
    span = Span(read.span.line, read.span.column - 1, read.span.end_line, read.span.end_column)
    return Fix(f"write {meant}", (Edit(script.path, span, meant),))


def _count(reads: Sequence[Read]) -> str:
    return f" {len(reads)} times" if len(reads) > 2 else " twice" if len(reads) == 2 else ""


def _unbound(layout: Layout) -> dict[str, list[Read]]:
    """The reads without a default of names that are set nowhere, by name in order of the first."""
    script = layout.script
    # One guarded read shows that the script reckons with an unset variable; which reads it guards is not followed.
    excused = {read.name for read in script.reads if read.defaulted or read.required}
    found: dict[str, list[Read]] = {}
    for read in script.reads:
        name = read.name
        if not _IDENTIFIER.fullmatch(name) or name in excused or layout.options.is_provided(name):
            continue
        if layout.sets_only_itself(name) or not layout.may_set(name):
            found.setdefault(name, []).append(read)
    return found


def _is_strict(script: Script) -> bool:
    """Whether the script runs under ``set -u`` from some point on and never leaves it."""
    switches = [word.text for site in script.commands if site.name == "set" for word in site.words[1:]]
    off = any(re.fullmatch(r"\+\w*u\w*", word) for word in switches)
    on = any(re.fullmatch(r"-\w*u\w*|nounset", word) for word in switches)
    return not off and (on or bool(_NOUNSET_SHEBANG.match(script.lines[0])))


def _is_tested(read: Read, script: Script) -> bool:
    """Whether a read stands in ``[ … ]``, ``[[ … ]]`` or ``test``: where empty is one of the expected answers."""
    node = script.tree.root_node.descendant_for_byte_range(read.start, read.start + 1)  # type: ignore[attr-defined]
    while node is not None and node.type not in {"test_command", "command", "variable_assignment"}:
        node = node.parent
    return node is not None and (
        node.type == "test_command" or node.text.split(None, 1)[0] in {b"test", b"["}
    )


def _is_passed_on(read: Read, script: Script) -> bool:
    """Whether a word hands the variable on under its own name (``env NAME=$NAME``), empty or not."""
    before = script.data[: read.start].removesuffix(b"{").removesuffix(b"$").rstrip(b"\"'")
    own = any(a.name == read.name and a.start <= read.start < a.end for a in script.assignments)
    return before.endswith(f"{read.name}=".encode()) and not own


def _is_all_elements(read: Read, script: Script) -> bool:
    """Whether a read is ``${NAME[@]}``: no element is no error then, not even under ``set -u`` (bash 4.4 and later)."""
    return script.data[read.start + len(read.name) :].startswith((b"[@]", b"[*]"))


def _demand(read: Read, strict: bool, script: Script) -> Fix | None:
    """Write ``${NAME:?set NAME}`` for a plain ``$NAME`` or ``${NAME}``."""
    name, size = read.name, len(read.name.encode())
    before, after = script.data[: read.start], script.data[read.start + size :]
    demand = f"{name}:?set {name}"
    span = read.span
    if before.endswith(b"${") and after.startswith(b"}"):
        edit = Edit(script.path, span, demand)
    elif before.endswith(b"$"):
        edit = Edit(
            script.path, Span(span.line, span.column - 1, span.end_line, span.end_column), f"${{{demand}}}"
        )
    else:
        return None
    # Without set -u the script may have lived with the empty value.
    return Fix(f"demand {name} from the caller", (edit,), safe=strict)
