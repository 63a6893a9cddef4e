"""SHL001-003: a command that ends earlier than its author meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.checks.knobs.base import shown
from example_sanity.checks.shell.base import TextRule
from example_sanity.core.finding import Edit, Finding, Fix, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.shell.base import Text
    from example_sanity.launch.syntax import CommandSite

_SPACED = regex(rb"(?<!\\)(?:\\\\)*(\\)([ \t]+(?:#[^\n]*)?)\r?$", re.MULTILINE)
_CONTINUED = regex(rb"(?<!\\)(?:\\\\)*\\\r?\Z")
_SPACED_END = regex(rb"\\[ \t]+(?:#.*)?\r?\Z")
_OPTION = regex(r"--?[A-Za-z][\w-]*(?:=.*)?", re.DOTALL)
_OVERRIDE = regex(r"(?:\+{1,2}[A-Za-z_][\w.@/-]*|[A-Za-z_][\w-]*(?:[.@/][\w-]+)+)=.*", re.DOTALL)
_LIST = regex(r'"?\$(?:@|\{@\}|\{\w+\[@\]\})"?')
# What can only go on with a command: an option, an override, a list of arguments.
_GOES_ON = regex(
    rb"\s+(?:--?[A-Za-z]|\+{1,2}[A-Za-z_]|[A-Za-z_][\w-]*(?:[.@/][\w-]+)+=|\"?\$(?:@|\{@\}|\{\w+\[@\]\}))"
)


class SpaceAfterContinuation(TextRule):
    r"""A backslash at the end of a line is followed by a space, so it quotes the space and the line does not go on.

    The command ends there, with one argument more (the space). What stands on the next lines runs as a command of its own,
    or, for options, is not found. In a quoted string the backslash and the line end stay in the value.
    """

    code = "SHL001"
    name = "space-after-continuation"
    summary = "a space behind a backslash ends the command"
    source = "Bash manual, 3.1.2.1 Escape Character: only a backslash directly before the newline continues the line"
    bad = (
        Example("python3 train.py \\ \n    --lr 1e-6\n"),
        Example("ARGS=(\n    --a 1 \\ # why\n    --b 2\n)\n"),
    )
    good = (
        Example("python3 train.py \\\n    --lr 1e-6\n"),
        Example("# a comment may end so: \\ \npython3 train.py\n"),
        Example("python3 train.py '\\ '\n"),
    )

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        for match in _SPACED.finditer(text.data):
            kind = text.kind_at(match.start(1))
            if kind in ("comment", "heredoc"):
                continue
            span = text.span(match.start(1), match.end(2))
            behind = match[2].strip()
            what = "a comment" if behind else f"{len(match[2])} space{'s' if len(match[2]) > 1 else ''}"
            effect = (
                "so the backslash and the line end stay in the string"
                if kind == "quoted"
                else f"so the command ends here; {_what_follows(text, span.line)}"
            )
            yield self.finding(
                text.script.path,
                span,
                f"{what} behind the backslash, {effect}; end the line with the backslash",
                fix=None if behind else _strip(text, match),
            )


def _what_follows(text: Text, line: int) -> str:
    rest = text.lines[line].decode("utf-8", "replace").strip() if line < len(text.lines) else ""
    if not rest:
        return "the command gets the space as an argument"
    return f"line {line + 1} ({shown(rest)}) runs as a command of its own"


def _strip(text: Text, match: re.Match[bytes]) -> Fix:
    edit = Edit(text.script.path, text.span(match.start(2), match.end(2)), "")
    return Fix("remove the spaces behind the backslash", (edit,))


class CommentInContinuation(TextRule):
    """A comment or an empty line stands inside a continued command: the command ends there, and the rest is lost.

    The backslash joins the next line; a ``#`` makes all of it a comment, its own backslash included, and an empty line
    ends the command. Options below it never reach the program. A comment behind the last argument does no harm.
    """

    code = "SHL002"
    name = "comment-in-continuation"
    summary = "a comment or an empty line cuts a continued command"
    source = "Bash manual, 3.1.3 Comments: a comment lasts to the end of its line; a backslash in it continues nothing"
    bad = (
        Example("python3 train.py \\\n    --lr 1e-6 \\\n    # --bf16 \\\n    --epochs 2\n"),
        Example("python3 train.py \\\n    trainer.nnodes=1 \\\n\n    trainer.epochs=2\n"),
    )
    good = (
        Example("python3 train.py \\\n    --lr 1e-6 \\\n    --epochs 2 \\\n    # --bf16 \\\n\necho done\n"),
        Example("ARGS=(\n    --lr 1e-6\n    # --bf16\n    --epochs 2\n)\npython3 train.py ${ARGS[@]}\n"),
    )

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        lines = text.lines
        for index in range(len(lines) - 1):
            last = _end_of_cut(lines, index)
            if (
                last is None
                or text.kind_at(text.starts[index] + len(lines[index].rstrip(b"\r")) - 1) != "code"
            ):
                continue
            cut = lines[index + 1]
            indent = len(cut) - len(cut.lstrip())
            start = text.starts[index + 1] + indent
            what = "the comment" if cut.strip() else "the empty line"
            yield self.finding(
                text.script.path,
                text.span(start, max(start, text.starts[index + 2] - 1)),
                f"{what} ends the command of line {index + 1}, so line {last + 2} "
                f"({shown(lines[last + 1].decode('utf-8', 'replace').strip())}) is no argument of it; "
                f"{'move it above the command' if cut.strip() else 'delete it'}",
                fix=_delete_empty(text, index, last) if not cut.strip() else None,
            )


def _end_of_cut(lines: list[bytes], index: int) -> int | None:
    """The last of the comments and empty lines between a continued line and one that goes on with it, or None."""
    if not _CONTINUED.search(lines[index]) or lines[index].lstrip().startswith(b"#"):
        return None
    last = index
    while last + 1 < len(lines) and (
        not lines[last + 1].strip() or lines[last + 1].lstrip().startswith(b"#")
    ):
        last += 1
    goes_on = last > index and last + 1 < len(lines) and _GOES_ON.match(lines[last + 1])
    return last if goes_on else None


def _delete_empty(text: Text, index: int, last: int) -> Fix | None:
    if any(line.strip() for line in text.lines[index + 1 : last + 1]):
        return None
    span = Span(index + 2, 1, last + 2, 1)
    return Fix("delete the empty line", (Edit(text.script.path, span, ""),), safe=False)


class MissingContinuation(TextRule):
    """A line begins with an option or an override, but the line above does not end in a backslash.

    The command above runs without it, with its defaults, and the line itself is a command that does not exist; without
    ``set -e`` the script goes on.
    """

    code = "SHL003"
    name = "missing-continuation"
    summary = "a line of options is cut off from its command"
    bad = (
        Example("python3 train.py \\\n    --lr 1e-6\n    --epochs 2\n"),
        Example("python3 -m verl.trainer.main_ppo \\\n    trainer.nnodes=1\n    trainer.total_epochs=2\n"),
    )
    good = (
        Example("python3 train.py \\\n    --lr 1e-6 \\\n    --epochs 2\n"),
        Example("case $1 in\n    --help) echo usage ;;\nesac\npython3 train.py\n"),
    )

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        ends = {site.span.end_line: site for site in text.script.commands}
        for site in text.script.commands:
            before = text.data[text.starts[site.span.line - 1] : site.start]
            if before.strip() or not _is_orphan(site):
                continue
            above = site.span.line - 1  # the number of the line above
            command = ends.get(above)
            # A list of arguments alone may well be a command; behind a continued one it is none.
            alone = _LIST.fullmatch(site.words[0].text) and command and command.span.line == above
            if (
                command is None
                or alone
                or _CONTINUED.search(text.lines[above - 1])
                or _SPACED_END.search(text.lines[above - 1])
            ):
                continue
            yield self._finding(text, site, command)

    def _finding(self, text: Text, site: CommandSite, command: CommandSite) -> Finding:
        line = command.span.end_line
        end = Span(line, command.span.end_column, line, command.span.end_column)
        word = site.words[0]
        return self.finding(
            text.script.path,
            word.span,
            f"{shown(word.text)} is a command of its own, as line {line} does not end in a backslash; "
            f"add one, or {shown(command.words[0].text)} runs without it",
            fix=Fix("continue the line above", (Edit(text.script.path, end, " \\"),), safe=False),
        )


def _is_orphan(site: CommandSite) -> bool:
    word = site.words[0].text if site.words else ""
    return bool(_OPTION.fullmatch(word) or _OVERRIDE.fullmatch(word) or _LIST.fullmatch(word))
