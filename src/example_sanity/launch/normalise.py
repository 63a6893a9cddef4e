"""Rewrite a script so that the sandbox's bash reads it as real bash does, and mark where each command stands.

The sandbox (bashkit 0.20) misreads quotes, escapes and unset variables inside the operand of an expansion. Such an
operand is moved in front of its statement, on the same line::

    X=${A:-$(f "b")}   →   if [[ -n "${A:-}" ]]; then X=${A}; else X=$(f "b"); fi

Everything that is written is ordinary bash with the same meaning. The result is parsed again; where that finds an
error that the original has not, the script is left as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from tree_sitter import Language, Parser, Query, QueryCursor
from tree_sitter_bash import language

from example_sanity.launch import operand, world

if TYPE_CHECKING:
    from tree_sitter import Node

SITE = "__es_at"  # environment variable that carries the call site of a command
PREPARE = "__es_prepare"  # builtin that rewrites a script file just before the script runs it
LIMIT = "__es_limit"  # builtin that stands for an expansion that the sandbox would silently leave out
HOISTED = "__es_h"
INTERNAL = "__es_"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BLOCKS = _words("""program compound_statement do_group subshell command_substitution process_substitution if_statement elif_clause
    else_clause while_statement case_item""")
_STATEMENTS = _words("""command declaration_command unset_command test_command variable_assignment variable_assignments for_statement
    case_statement redirected_statement compound_statement list pipeline negated_command subshell while_statement
    if_statement select_statement""")
_QUERY = """
(expansion) @expansion
(command) @command
(brace_expression) @brace
"""
_PLACES = {
    **dict.fromkeys(("command", "array", "for_statement", "unset_command"), "words"),
    "variable_assignment": "assignment",
    **dict.fromkeys(("case_statement", "file_redirect", "herestring_redirect", "heredoc_body"), "scalar"),
    "arithmetic_expansion": "scalar",
}
_BRACKETS = {"test_command": {"[": "words", "[[": "scalar"}, "compound_statement": {"((": "scalar"}}
_NO_PLACES = _words("ERROR c_style_for_statement subscript")
_NAME = re.compile(r"!?[A-Za-z_]\w*(?:\[[^\]@*]+\])?|\d+")
_OPERATOR = re.compile(r":?[-=+]")
_CANDIDATE = re.compile(r"\$\{(?:!?[A-Za-z_]\w*(?:\[[^\]@*]+\])?|\d+)(:?[-=+])")
_NOUNSET = re.compile(r"(?m)^[^#\n]*\bset\s+(?:-\S+\s+)*-\w*(?:u|o\s+nounset)|#!.*bash\s+-\w*u")
_GIVEN = frozenset({"HOME", "PATH", "PWD", "USER"})
_PLAIN_READ = re.compile(r"\$(?:\{([A-Za-z_]\w*)[}\[]|([A-Za-z_]\w*)|(\d))")
_ELEMENT = re.compile(r"\$\{[A-Za-z_]\w*\[[^\]@*]+\]\}")
_BRACES = re.compile(r"\{(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?\}")
_BRACE_LIMIT = 10_000


@lru_cache(maxsize=1)
def _grammar() -> tuple[Parser, Query]:
    bash = Language(language())
    return Parser(bash), Query(bash, _QUERY)


def _root(text: str) -> Node:
    """Parse with every character beyond ASCII replaced: some crash the grammar's scanner, and offsets stay right."""
    parser, _ = _grammar()
    return parser.parse(re.sub(r"[^\x00-\x7f]", "x", text).encode("ascii")).root_node


@dataclass
class _Edits:
    """Insertions and replacements of one text; what lies inside a replaced stretch is dropped."""

    items: list[tuple[int, int, str]] = field(default_factory=list)

    def add(self, start: int, end: int, text: str) -> None:
        self.items.append((start, end, text))

    def apply(self, text: str) -> str:
        parts = []
        position = 0
        for start, end, new in sorted(self.items, key=lambda item: (item[0], item[1] > item[0])):
            if start < position:
                continue
            parts += [text[position:start], new]
            position = end
        return "".join([*parts, text[position:]])


@dataclass
class _Context:
    """What is the same for a script and for the operands that are taken out of it."""

    origin: str
    source: str
    nounset: bool
    tags: bool
    counter: list[int] = field(default_factory=lambda: [0])
    names: set[str] = field(default_factory=set)
    fixed: int | None = None  # where the operand stood that this text was moved out of

    def site(self, offset: int, command: str) -> str:
        """Return the call site of a command; that of a moved one is where it stood."""
        if self.fixed is not None:
            offset = max(self.source.find(command, self.fixed), self.fixed)
        return f"{self.origin}:{offset}"

    def fresh(self) -> str:
        self.counter[0] += 1
        return f"{HOISTED}{self.counter[0]}"

    def moved(self, offset: int) -> _Context:
        fixed = offset if self.fixed is None else self.fixed
        return _Context(self.origin, self.source, self.nounset, self.tags, self.counter, self.names, fixed)


@dataclass(frozen=True)
class Rewritten:
    """A script for the sandbox, and the names of the commands in it that are no builtins and not written in bash."""

    text: str
    names: frozenset[str]


@lru_cache(maxsize=64)
def normalise(text: str, origin: str = "0", tags: bool = True) -> Rewritten:
    """Rewrite ``text`` for the sandbox; ``origin`` names the file in the call sites (an index, no ``:``).

    The number of lines before a statement stays the same unless an operand with a line break moves. Text that would
    not parse any more is returned unchanged but for the end of the file.
    """
    text = re.sub(r"\\\n?\s*\Z", "\n", text)
    context = _Context(origin, text, bool(_NOUNSET.search(text)), tags)
    return Rewritten(_rewrite(text, context), frozenset(context.names))


def _rewrite(text: str, context: _Context) -> str:
    if context.fixed is not None and "$" not in text and "`" not in text:
        return text
    root, clean = _structure(text)
    edits = _Edits()
    _, query = _grammar()
    found = QueryCursor(query).captures(root)
    taken: list[tuple[int, int]] = []
    for node in sorted(found.get("expansion", ()), key=lambda node: node.start_byte):
        if not any(start <= node.start_byte < end for start, end in taken):
            stretch = _move(text, node, context, edits)
            if stretch:
                taken.append(stretch)
            elif context.nounset and _ELEMENT.fullmatch(text, node.start_byte, node.end_byte):
                edits.add(node.end_byte - 1, node.end_byte - 1, "?")
    for node in found.get("brace", ()):
        _guard_braces(text, node, edits)
    for node in found.get("command", ()):
        _mark(text, node, context, edits)
    result = edits.apply(text)
    if context.fixed is None and clean and _root(result).has_error:
        return text
    return result


def _structure(text: str) -> tuple[Node, bool]:
    """Parse ``text``, with the operands masked where they keep the grammar from reading the statement."""
    root = _root(text)
    if not root.has_error:
        return root, True
    masked = _mask(text, root)
    again = _root(masked)
    return (again, True) if not again.has_error else (root, False)


def _mask(text: str, root: Node) -> str:
    parts = []
    position = 0
    for match in _CANDIDATE.finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if match.start() < position or text[line_start : match.start()].lstrip().startswith("#"):
            continue
        node = root.descendant_for_byte_range(match.start(), match.start() + 1)
        end = operand.close_of_expansion(text, match.end(), node is not None and _quoted(node))
        if end is not None:
            parts += [text[position : match.end()], "x" * (end - match.end())]
            position = end
    return "".join([*parts, text[position:]])


def _quoted(node: Node) -> bool:
    """Whether ``node`` stands inside double quotes, a here-document or arithmetic."""
    current: Node | None = node
    while current is not None:
        if current.type in ("string", "heredoc_body", "arithmetic_expansion"):
            return True
        if current.type in ("command_substitution", "process_substitution", "array"):
            return False
        current = current.parent
    return False


@dataclass(frozen=True)
class _Expansion:
    """``${name operator operand}`` in the text."""

    name: str
    operator: str
    operand: str
    start: int
    end: int
    quoted: bool

    @property
    def test(self) -> str:
        return f'[[ -n "${{{self.name}:-}}" ]]' if ":" in self.operator else f'[[ -n "${{{self.name}+x}}" ]]'

    @property
    def value(self) -> str:
        return f"${{{self.name}}}"


def _read_expansion(text: str, node: Node) -> _Expansion | None:
    start = node.start_byte
    name = _NAME.match(text, start + 2)
    operator = _OPERATOR.match(text, name.end()) if name else None
    if name is None or operator is None:
        return None
    quoted = _quoted(node.parent) if node.parent else False
    end = operand.close_of_expansion(text, operator.end(), quoted)
    if end is None:
        return None
    body = text[operator.end() : end]
    return _Expansion(name.group(), operator.group(), body, start, end + 1, quoted)


def _risky(expansion: _Expansion, nounset: bool) -> bool:
    body = expansion.operand
    if "<<" in body or "$?" in body:
        return False
    if operand.has_quoting(body):
        return True
    if not nounset:
        return False
    reads = ("".join(groups) for groups in _PLAIN_READ.findall(body))
    return any(name not in _GIVEN for name in reads)


def _move(text: str, node: Node, context: _Context, edits: _Edits) -> tuple[int, int] | None:
    """Move the operand of an expansion where the sandbox may misread it; return the stretch that is settled then."""
    expansion = _read_expansion(text, node)
    place = _place(node) if expansion is not None and _risky(expansion, context.nounset) else None
    statement = _statement(place[0]) if place else None
    if expansion is None or place is None or statement is None:
        return None
    word, kind = place
    if "$?" in text[statement.start_byte : statement.end_byte]:
        return None
    if kind == "assignment" and _whole_assignment(statement, word, text):
        return _branch(text, expansion, statement, context, edits)
    moved = _prelude(text, expansion, word, kind, context)
    if moved is None or not _put_before(text, statement, moved[0], edits):
        return None
    edits.add(*moved[1:])
    return moved[1], moved[2]


def _place(node: Node) -> tuple[Node, str] | None:
    """Climb from an expansion to the word that it is part of; say how bash treats that word."""
    word = node
    while word.parent is not None:
        parent = word.parent
        kind = parent.type
        if kind in _PLACES:
            return word, _PLACES[kind]
        if kind in _BRACKETS and parent.children[0].type in _BRACKETS[kind]:
            return word, _BRACKETS[kind][parent.children[0].type]
        if (
            kind in _BLOCKS
            or kind in _NO_PLACES
            or (kind == "binary_expression" and _is_pattern(parent, word))
        ):
            return None
        if kind in ("binary_expression", "unary_expression") and word.type == "expansion":
            return _place_of_test(word, parent)
        word = parent
    return None


def _is_pattern(parent: Node, word: Node) -> bool:
    operator = parent.child_by_field_name("operator")
    return (
        operator is not None
        and operator.type in ("==", "=", "!=", "=~")
        and parent.child_by_field_name("right") == word
    )


def _place_of_test(word: Node, parent: Node) -> tuple[Node, str] | None:
    top: Node | None = parent
    while top is not None and top.type.endswith("_expression"):
        top = top.parent
    if top is not None and top.type == "test_command" and top.children[0].type == "[":
        return word, "words"
    if top is None or top.type in ("c_style_for_statement", "subscript"):
        return None
    return word, "scalar"


def _statement(word: Node) -> Node | None:
    """Return the simple statement that ``word`` belongs to."""
    node = word.parent
    while node is not None:
        if node.type in ("c_style_for_statement", "ERROR"):
            return None
        if node.type == "variable_assignment" and node.parent is not None:
            if node.parent.type in ("command", "declaration_command", "variable_assignments"):
                node = node.parent
            return node
        if node.type in _STATEMENTS:
            return node
        node = node.parent
    return None


def _whole_assignment(statement: Node, word: Node, text: str) -> bool:
    """Whether the statement is one assignment with one operand to move: then it goes into both branches whole."""
    if statement.type != "variable_assignment" or word.parent != statement:
        return False
    source = text[word.start_byte : word.end_byte]
    return len(_CANDIDATE.findall(source)) == 1 or word.type == "expansion"


def _branch(
    text: str, expansion: _Expansion, statement: Node, context: _Context, edits: _Edits
) -> tuple[int, int]:
    start, end = statement.start_byte, statement.end_byte
    head, tail = text[start : expansion.start], text[expansion.end : end]
    if "=" in expansion.operator:
        store = _store(expansion, context)
        new = f"{{ if ! {expansion.test}; then {store}; fi; {head}{expansion.value}{tail}; }}"
        edits.add(start, end, new)
        return start, end
    body = _assigned(expansion)
    inner = context.moved(expansion.start)
    chosen = _rewrite(f"{head}{body}{tail}", inner)
    other = head + (expansion.value if "-" in expansion.operator else "") + tail
    yes, no = (other, chosen) if "-" in expansion.operator else (chosen, other)
    edits.add(start, end, f"if {expansion.test}; then {yes}; else {no}; fi")
    return start, end


def _assigned(expansion: _Expansion) -> str:
    if expansion.quoted:
        return operand.as_double_quoted(expansion.operand)
    return operand.as_assigned(expansion.operand, split=False)


def _store(expansion: _Expansion, context: _Context) -> str:
    body = _assigned(expansion)
    source = f'{expansion.name}="{body}"' if expansion.quoted else f"{expansion.name}={body}"
    return _tolerant(_rewrite(source, context.moved(expansion.start)), body)


def _tolerant(assignment: str, body: str) -> str:
    """Keep ``set -e`` from stopping at a failing substitution: inside the operand of a word it would not."""
    return f"{assignment} || :" if "$(" in body or "`" in body else assignment


def _prelude(
    text: str, expansion: _Expansion, word: Node, kind: str, context: _Context
) -> tuple[str, int, int, str] | None:
    """Return the text to put before the statement, and the stretch to replace with its new text."""
    if "=" in expansion.operator:
        store = _store(expansion, context)
        return f"if ! {expansion.test}; then {store}; fi", expansion.start, expansion.end, expansion.value
    name = context.fresh()
    if kind == "words" and not expansion.quoted:
        return _array_prelude(text, expansion, word, name, context)
    body = _assigned(expansion)
    source = f'{name}="{body}"' if expansion.quoted else f"{name}={body}"
    chosen = _tolerant(_rewrite(source, context.moved(expansion.start)), body)
    other = f"{name}={expansion.value if '-' in expansion.operator else ''}"
    new = f'"${{{name}}}"' if kind == "scalar" and not expansion.quoted else f"${{{name}}}"
    return _choice(expansion, other, chosen), expansion.start, expansion.end, new


def _array_prelude(
    text: str, expansion: _Expansion, word: Node, name: str, context: _Context
) -> tuple[str, int, int, str] | None:
    """An unquoted operand may become several words, so the whole word goes through an array."""
    head, tail = text[word.start_byte : expansion.start], text[expansion.end : word.end_byte]
    if head.startswith("[") or expansion.operand.startswith("[") or len(_CANDIDATE.findall(head + tail)):
        return None
    body = operand.as_assigned(expansion.operand, split=True)
    chosen = _tolerant(_rewrite(f"{name}=({head}{body}{tail})", context.moved(expansion.start)), body)
    other = f"{name}=({head}{expansion.value if '-' in expansion.operator else ''}{tail})"
    return _choice(expansion, other, chosen), word.start_byte, word.end_byte, f'"${{{name}[@]}}"'


def _choice(expansion: _Expansion, other: str, chosen: str) -> str:
    yes, no = (other, chosen) if "-" in expansion.operator else (chosen, other)
    return f"if {expansion.test}; then {yes}; else {no}; fi"


def _put_before(text: str, statement: Node, before: str, edits: _Edits) -> bool:
    """Insert ``before`` in front of the statement; in the middle of a list it needs braces."""
    node = statement
    while node.parent is not None and node.parent.type not in _BLOCKS:
        parent = node.parent
        if parent.type in ("list", "pipeline") and parent.children[0] != node:
            return _wrap(text, node, before, edits)
        if parent.type not in _STATEMENTS:
            return False
        node = parent
    if node.parent is None or node.parent.children[0].type == "((":
        return False
    edits.add(node.start_byte, node.start_byte, f"{before}; ")
    return True


def _wrap(text: str, node: Node, before: str, edits: _Edits) -> bool:
    whole = node
    while whole.parent is not None and whole.parent.type in _STATEMENTS:
        whole = whole.parent
    # the grammar hangs words and redirections next to a here-document on the wrong nodes
    if "<<" in text[whole.start_byte : whole.end_byte]:
        return False
    edits.add(node.start_byte, node.start_byte, f"{{ {before}; ")
    edits.add(node.end_byte, node.end_byte, "; }")
    return True


def _guard_braces(text: str, node: Node, edits: _Edits) -> None:
    """The sandbox leaves a range of more than 10,000 words unexpanded without a word about it."""
    match = _BRACES.fullmatch(text, node.start_byte, node.end_byte)
    if match is None:
        return
    first, last, step = int(match[1]), int(match[2]), abs(int(match[3] or 1)) or 1
    count = abs(last - first) // step + 1
    if count > _BRACE_LIMIT:
        edits.add(node.start_byte, node.end_byte, f"$({LIMIT} {count})")


def _mark(text: str, node: Node, context: _Context, edits: _Edits) -> None:
    """Give a command that may reach the record its call site, and have a script that it runs rewritten first."""
    name_node = node.child_by_field_name("name")
    if name_node is None:
        return
    name = text[name_node.start_byte : name_node.end_byte]
    if name in _UNMARKED or _arithmetic(text, node):
        return
    if _LITERAL.fullmatch(name) and name not in world.BUILTINS and name not in world.NATIVE:
        context.names.add(name)
    if not context.tags:
        return
    script = None if name in _QUIET_NAMES else _script_word(text, node, name_node)
    if script is not None:
        _put_before(text, node, f"{PREPARE} {script} || :", edits)
    place = _after_time(text, node, name_node)
    edits.add(place, place, f"{SITE}={context.site(place, text[place : node.end_byte])} ")


def _arithmetic(text: str, node: Node) -> bool:
    """Whether the grammar took the inside of ``$(( ))`` for a command."""
    current = node.parent
    while current is not None:
        if current.type in ("command_substitution", "subshell") and text.startswith(
            ("$((", "(("), current.start_byte
        ):
            return True
        current = current.parent
    return False


_UNMARKED = (world.BUILTINS - {".", "source", "eval", "exec", "command", "builtin", "time", "wait"}) | (
    world.NATIVE - {"bash", "env", "find", "nice", "nohup", "sh", "timeout", "xargs"}
)
_LITERAL = re.compile(r"[\w./@%+:-]+")
_QUIET_NAMES = frozenset({*world.SILENT, *world.PROBES, "eval", "find"})
_TIME = re.compile(r"time\s+(?:-p\s+)?")
_RUNNERS = frozenset({"source", ".", "bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash"})
_HARMLESS = re.compile(r"\$\(\s*(?:cd|dirname|basename|pwd|readlink|realpath|git|echo)\b")


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
        direct = " direct"
    if chosen is None or len(re.findall(r"\$\(|`", chosen)) != len(_HARMLESS.findall(chosen)):
        return None
    return None if "<<" in chosen or chosen.startswith("<(") else chosen + direct


def _after_time(text: str, node: Node, name_node: Node) -> int:
    """Return where the command's own words begin: ``time`` is a keyword, and an assignment before it undoes that."""
    keyword = _TIME.match(text, name_node.start_byte, node.end_byte)
    return keyword.end() if keyword else node.start_byte


def _arguments(node: Node, name_node: Node) -> list[Node]:
    return [child for child in node.children if child.start_byte >= name_node.start_byte]
