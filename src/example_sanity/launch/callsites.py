"""Mark each command with its place in the script, and have script files rewritten before they run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.core.regex import regex
from example_sanity.launch import world
from example_sanity.launch.rewriting import DIRECT, PREPARE, SITE, Context, Edits, put_before
from example_sanity.launch.shelltree import in_arithmetic

if TYPE_CHECKING:
    from tree_sitter import Node

_UNMARKED = (world.BUILTINS - {".", "source", "eval", "exec", "command", "builtin", "time", "wait"}) | (
    world.NATIVE - {"bash", "env", "find", "nice", "nohup", "sh", "timeout", "xargs"}
)
_LITERAL = regex(r"[\w./@%+:-]+")
_QUIET_NAMES = frozenset({*world.SILENT, *world.PROBES, "eval", "find"})
_TIME = regex(r"time\s+(?:-p\s+)?")
_RUNNERS = frozenset({"source", ".", "bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash"})
_HARMLESS = regex(r"\$\(\s*(?:cd|dirname|basename|pwd|readlink|realpath|git|echo)\b")


def mark(text: str, node: Node, context: Context, edits: Edits) -> None:
    """Give a command that may reach the record its call site, and have a script that it runs rewritten first."""
    name_node = node.child_by_field_name("name")
    if name_node is None:
        return
    name = text[name_node.start_byte : name_node.end_byte]
    if name in _UNMARKED or in_arithmetic(text, node):
        return
    if _LITERAL.fullmatch(name) and name not in world.BUILTINS and name not in world.NATIVE:
        context.names.add(name)
    if not context.tags:
        return
    script = None if name in _QUIET_NAMES else _script_word(text, node, name_node)
    if script is not None:
        put_before(text, node, f"{PREPARE} {script} || :", edits)
    place = _after_time(text, node, name_node)
    edits.add(place, place, f"{SITE}={context.site(place, text[place : node.end_byte])} ")


def _script_word(text: str, node: Node, name_node: Node) -> str | None:
    """Return the source text of the word that names the script file which this command runs, if it runs one."""
    words = [text[child.start_byte : child.end_byte] for child in _arguments(node, name_node)]
    runner = next((place for place, word in enumerate(words) if word in _RUNNERS), None)
    direct = ""
    if runner is not None:
        rest = [word for word in words[runner + 1 :] if not re.match(r"-\w", word)]
        chosen = rest[0] if rest and "-c" not in words[runner + 1 : runner + 3] else None
    else:
        chosen = words[0] if "/" in words[0] or words[0].startswith(("$", '"$')) else None
        direct = f" {DIRECT}"
    if chosen is None or len(re.findall(r"\$\(|`", chosen)) != len(_HARMLESS.findall(chosen)):
        return None
    return None if "<<" in chosen or chosen.startswith("<(") else chosen + direct


def _after_time(text: str, node: Node, name_node: Node) -> int:
    """Return where the command's own words begin: ``time`` is a keyword, and an assignment before it undoes that."""
    keyword = _TIME.match(text, name_node.start_byte, node.end_byte)
    return keyword.end() if keyword else node.start_byte


def _arguments(node: Node, name_node: Node) -> list[Node]:
    return [child for child in node.children if child.start_byte >= name_node.start_byte]
