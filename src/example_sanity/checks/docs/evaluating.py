"""Evaluates the commands that a document quotes as if they were a launcher, in the environment that it quotes."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

import msgspec

from example_sanity.checks.docs.paths import DanglingPath, dangling
from example_sanity.checks.docs.snippets import Modules
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Finding, Severity, Span, merge_scenarios
from example_sanity.core.regex import regex
from example_sanity.core.rule import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Block, Document
    from example_sanity.core.rule import Context, Rule
    from example_sanity.launch.command import Launch
    from example_sanity.launch.scenario import Scenario
    from example_sanity.launch.syntax import Script

FAMILIES = ("mesh", "batch", "overrides", "flags")
# Verdicts on a whole script, on the files that it starts (DOC001 knows those), and on placeholders, which documents have.
_NOT_OF_COMMANDS = frozenset({"MSH003", "MSH004", "MSH005", "FLG007", "OVR011"})
# What a part of a command says all the same: a flag, a value, a word is right or wrong alone.
_OF_PARTS = frozenset(
    {"FLG001", "FLG003", "FLG005", "FLG006", "FLG008", "OVR005", "OVR006", "OVR010", "OVR014", "OVR015"}
)
# "--precision [fp8 | bf16]", "--arch {neox,llama}", "[--threshold T]": what a reader may choose or leave out.
_NOTATION = regex(r"(?<![\w$])(?:\[[^\[\]\n]*[A-Za-z|][^\[\]\n]*\]|\{[\w.,| -]+\})")
_OF_VALUES = frozenset({"FLG002", "FLG003", "FLG008"})
_STARTS = regex(
    r"(?:^|[\s;&|(/])(?:python[\d.]*|torchrun|accelerate|deepspeed|ray|srun|sbatch|mpirun|uv|(?:ba)?sh)\s"
)
_LAUNCHES = regex(r"\s-m\s|\.py\b|\.sh\b|\.slurm\b|\.sbatch\b|\.bash\b")


class Judged(msgspec.Struct, frozen=True):
    """What a rule says of a quoted command: its finding with the place in the document."""

    finding: Finding
    span: Span


def judge(document: Document, block: Block, context: Context) -> Iterator[Judged]:
    """Yield what the rules on launches say of the commands of a block, beyond what they say of the scripts it runs."""
    if not may_launch(block):
        return
    launch = evaluate(document, block, context)
    if launch is None or not launch.entries:
        return
    part = _is_part(block, launch)
    for finding in merge_scenarios(_findings(launch, context)):
        if part and finding.path == document.path and finding.code not in _OF_PARTS:
            continue
        if finding.code == "OVR006" and not _names_ours(finding.message, context):
            continue
        if _is_of_paths(finding, document, context):
            continue
        if finding.path == document.path:
            if _is_notation(finding, document):
                continue
            yield Judged(finding, _in_document(finding.span, block))
        elif not _known(finding, context):
            yield Judged(finding, _caller(finding, block))


def _is_notation(finding: Finding, document: Document) -> bool:
    line = document.lines[finding.span.line - 1]
    return finding.code in _OF_VALUES and _NOTATION.search(line) is not None


def _is_of_paths(finding: Finding, document: Document, context: Context) -> bool:
    """Whether DOC001 says the same of a path."""
    off = context.registry.resolve_all(context.config.ignore, "ignore")
    if finding.code != "FLG010" or DanglingPath.code in off:
        return False
    return any(finding.message.startswith(f"{path} ") for path in dangling(document, context))


def _names_ours(message: str, context: Context) -> bool:
    """Whether the module of a message lies in a package of the root: "utils/sglang" is not what "sglang.x" means."""
    modules: Modules = context.once("docs modules", lambda: Modules(context.project))
    return any(modules.is_ours(word) for word in message.split())


def may_launch(block: Block) -> bool:
    """Return whether a block holds a command that may start a program of the project."""
    text = block.text
    return block.is_shell and bool(_STARTS.search(text)) and bool(_LAUNCHES.search(text))


def evaluate(document: Document, block: Block, context: Context) -> Launch | None:
    """Return what the commands of a block would run; None where they cannot be read or evaluated.

    Variables that the block only reads are the reader's own: what depends on them is not judged.
    """
    from example_sanity.launch import inputs
    from example_sanity.launch.explore import explored

    if block.quoted.problems or not block.quoted.commands:
        return None
    script = _script(document, block, context)
    inputs.note(script, context.project)
    launch = explored(script, _scenario(script, context), context.project.root, context.engine)
    return launch if launch.failure is None else None


def _script(document: Document, block: Block, context: Context) -> Script:
    """The block as a script in which each word stands where the document has it."""
    from example_sanity.launch.syntax import parse

    first = block.lines[0].line
    enter = f"cd /{document.folder}" if _runs_beside(document, block, context) else ""
    lines = block.quoted.text.split("\n")
    if _keeps_columns(block):
        padded = [" " * (line.column - 1) for line in block.quoted.lines]
        lines = [pad + text for pad, text in zip_longest(padded, lines, fillvalue="")]
    text = enter + "\n" * (first - 1) + "\n".join(lines)
    return parse(document.path, text.encode("utf-8", "surrogateescape"))


def _keeps_columns(block: Block) -> bool:
    """Whether white space in front of a line means nothing: the end of a here-document must not be indented."""
    return "<<" not in block.quoted.text


def _runs_beside(document: Document, block: Block, context: Context) -> bool:
    """Whether a script or program of a command stands beside the document and not where the command says."""
    project = context.project
    for command in block.quoted.commands:
        for word in command.words:
            if word.fixed and word.text.endswith((".sh", ".py")):
                beside = f"{document.folder}/{word.text.removeprefix('./')}"
                if not project.holds(word.text) and project.holds(beside):
                    return True
    return False


def _scenario(script: Script, context: Context) -> Scenario:
    from example_sanity.launch.required import placeholder
    from example_sanity.launch.scenario import Scenario

    environment = dict(context.environment)
    names = {read.name for read in script.reads if read.name.isidentifier()}
    missing = sorted(names - script.assigned - set(environment) - {"HOME", "PWD", "PATH", "USER"})
    return Scenario(environment=environment, placeholders={name: placeholder(name) for name in missing})


def rules(context: Context) -> list[type[Rule]]:
    """Return the rules on launches that the configuration does not switch off."""
    ignored = context.registry.resolve_all(context.config.ignore, "ignore")
    found = [rule for name in FAMILIES for rule in context.registry.family(name).rules]
    return [
        rule
        for rule in found
        if rule.subject is Subject.LAUNCH and rule.code not in ignored and rule.code not in _NOT_OF_COMMANDS
    ]


def _is_part(block: Block, launch: Launch) -> bool:
    """Whether a command has more words than the document shows: dots, or an expansion that stands alone."""
    if block.quoted.abridged:
        return True
    expanded = [word.text for command in block.quoted.commands for word in command.words if not word.fixed]
    return any(text.startswith("$") and "=" not in text for text in expanded) and bool(launch.entries)


def _findings(launch: Launch, context: Context) -> Iterator[Finding]:
    for rule in rules(context):
        for finding in rule().check(launch, context):
            if finding.severity is not Severity.INFO:
                yield finding


def _known(finding: Finding, context: Context) -> bool:
    """Whether the script itself has the finding, whoever calls it."""
    rule = context.registry.rules[finding.code]
    try:
        own = context.apply(rule, finding.path)
    except Uninspectable:
        return True
    return any(item.message == finding.message for item in own)


def _in_document(span: Span, block: Block) -> Span:
    """Shift a span of the script to the columns of the document."""
    if _keeps_columns(block):
        return span
    columns = {line.line: line.column - 1 for line in block.quoted.lines}
    return Span(
        span.line,
        span.column + columns.get(span.line, 0),
        span.end_line,
        span.end_column + columns.get(span.end_line, 0),
    )


def _caller(finding: Finding, block: Block) -> Span:
    """Return the command of the document that runs the script of a finding, the one that gives what it tells of."""
    name = finding.path.rpartition("/")[2]
    commands = [
        command
        for command in block.quoted.commands
        if any(word.text.rpartition("/")[2] == name for word in command.words)
    ]
    said = [word.strip("\"'`") for word in finding.message.partition(",")[0].split()]
    meant = (command for command in commands if any(word.text in said for word in command.words[1:]))
    found = next(meant, next(iter(commands), None))
    return block.span if found is None else found.span
