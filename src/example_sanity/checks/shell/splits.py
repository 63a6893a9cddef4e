"""SHL016, SHL017: unquoted characters that split a command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.checks.shell.base import TextRule, ancestors
from example_sanity.checks.shell.layout import launch_sites
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.shell.base import Text
    from example_sanity.core.finding import Finding

# Not "<in.txt 2> err": a space, a digit and a ">" are a redirection that is meant.
_PLACEHOLDER = regex(rb"(?<![<\w&>])<[A-Za-z](?:[\w ./,-]*[\w./,-])?(?<! \d)>(?=[\s\\/\"')]|\Z)")
# What stands on both sides must look like parts of one value: words with the same sign in them.
_SPLIT = regex(rb"(?<![^\s\"'=])([^\s\"'=;&|]*[\w?]([=:,])[\w./-]+)([;&])(?=[\w./-]+\2)")
_LAUNCH = regex(rb"(?:[\w/.~-]*/)?(?:python[\d.]*|torchrun|accelerate|deepspeed|srun|mpirun)[ \t]")


class UnquotedPlaceholder(TextRule):
    """A placeholder in angle brackets stands unquoted: bash takes ``<`` and ``>`` for redirections.

    ``PATH=<your path>`` reads from a file ``your``. Where the text does not parse at all it is SYS003.
    """

    code = "SHL016"
    name = "unquoted-placeholder"
    summary = "a placeholder in angle brackets is a redirection"
    source = "Bash manual, 3.6 Redirections; Megatron-LM pull request 5410"
    bad = (Example("python3 train.py --data <path/to/data> --lr 1\n"),)
    good = (
        Example('python3 train.py --data "<path/to/data>" --lr 1\n'),
        Example("# --data <path>\npython3 train.py < input.txt > output.txt\ncat <<EOF\n<path>\nEOF\n"),
    )

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        for match in _PLACEHOLDER.finditer(text.data):
            if text.kind_at(match.start()) == "code":
                shown = match[0].decode("ascii", "replace")
                yield self.finding(
                    text.script.path,
                    text.span(match.start(), match.end()),
                    f"bash reads {shown} as redirections; quote it, or take a variable that must be set (${{NAME:?}})",
                )


class SplitValue(TextRule):
    """A ``;`` or ``&`` inside an unquoted value ends the command; the rest of the value runs as another one.

    Only values are judged that go on like one behind the sign (``a=1;b=2``, ``?x=1&y=2``).
    """

    code = "SHL017"
    name = "split-value"
    summary = "an unquoted ; or & splits a value"
    source = "Bash manual, 3.2.4 Lists of Commands; Megatron-Bridge pull request 3875"
    bad = (
        Example("python3 train.py --mix a:1;b:2\n"),
        Example("python3 train.py --url http://h/?x=1&y=2\n"),
        Example('CMD="python3 train.py --mix a:1;b:2"\nbash -c "$CMD"\n'),
    )
    good = (
        Example("python3 train.py --mix 'a:1;b:2'\n"),
        Example("python3 train.py --lr 1; echo done\nfor i in 1 2;do python3 train.py; done\n"),
        Example('CMD="python3 train.py --mix \'a:1;b:2\'"\nbash -c "$CMD"\n'),
    )

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        ends = {site.end for site in launch_sites(text.script)}
        for match in _SPLIT.finditer(text.data):
            if match.start(3) in ends and text.kind_at(match.start(3)) == "code":
                yield self._finding(text, match, "quote the value")
            elif _is_command_text(text, match.start(3)):
                yield self._finding(text, match, "quote the value inside the string")

    def _finding(self, text: Text, match: re.Match[bytes], repair: str) -> Finding:
        sign = match[3].decode()
        what = "starts the command in the background" if sign == "&" else "ends the command"
        return self.finding(
            text.script.path,
            text.span(match.start(3), match.end(3)),
            f"the unquoted {sign} {what}, and what follows runs as another one; {repair}",
        )


def _is_command_text(text: Text, place: int) -> bool:
    """Whether a place stands in a string that holds a launch command, outside its inner quotes."""
    for node in ancestors(text.node_at(place)):
        if node.type in ("string", "raw_string"):
            inside = text.data[node.start_byte + 1 : place]
            other = b'"' if node.type == "raw_string" else b"'"
            escaped = inside.count(b'\\"') % 2
            return bool(_LAUNCH.match(inside)) and not (inside.count(other) % 2 or escaped)
    return False
