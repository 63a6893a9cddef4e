"""Commands of click: their options and arguments, as the decorators say them.

Source: click's documentation of ``option`` and ``argument`` (8.1). click knows no abbreviations.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import msgspec

from example_sanity.schema.argparse.parsers import Parser
from example_sanity.schema.argparse.table import ANY, NOT_KNOWN
from example_sanity.schema.argparse.values import UNKNOWN, External, Function, Method, Scope, Value, iterate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from example_sanity.schema.argparse.interpreter import Interpreter
    from example_sanity.schema.argparse.plain import Call

_COMMANDS = frozenset({"command", "group"})
_OPTIONS = {"password_option": "--password", "confirmation_option": "--yes", "version_option": "--version"}
_SILENT = frozenset({"pass_context", "pass_obj", "pass_meta_key", "make_pass_decorator"})
_NUMBERS: dict[str, str | None] = {
    "INT": "int",
    "FLOAT": "float",
    "IntRange": "int",
    "FloatRange": "float",
    "BOOL": "bool",
    "STRING": None,
}


class Command(msgspec.Struct, eq=False):
    """A decorated function: what its command line takes. The commands of a group are the children of its parser."""

    parser: Parser


class _Decorator(msgspec.Struct, frozen=True):
    """One decorator, evaluated: what it is, with what it was called, and where it stands."""

    target: Value
    positional: list[Value]
    keywords: dict[str, Value]
    line: int


def decorated(function: Function, scope: Scope, interpreter: Interpreter) -> Value:
    """Return the command that the decorators make of a function, or the function itself."""
    node = function.node
    assert not isinstance(node, ast.Lambda)
    if not any(_last_name(item) in _COMMANDS for item in node.decorator_list):
        return function
    parser = Parser(abbreviations=False, library="click")
    made = False
    for item in reversed(node.decorator_list):
        found = _evaluated(item, scope, interpreter)
        if _is_command(found.target):
            made = True
            _begin(parser, found, function.module.path)
        else:
            _add(parser, found, function.module.path)
    return Command(parser) if made else function


def _last_name(node: ast.expr) -> str:
    target = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(target).rpartition(".")[2]


def _evaluated(node: ast.expr, scope: Scope, interpreter: Interpreter) -> _Decorator:
    if not isinstance(node, ast.Call):
        return _Decorator(interpreter.evaluate(node, scope), [], {}, node.lineno)
    keywords = {item.arg or "**": interpreter.evaluate(item.value, scope) for item in node.keywords}
    positional = [interpreter.evaluate(item, scope) for item in node.args]
    return _Decorator(interpreter.evaluate(node.func, scope), positional, keywords, node.lineno)


def _is_command(target: Value) -> bool:
    if isinstance(target, Method):
        return isinstance(target.owner, Command) and target.name in _COMMANDS
    return isinstance(target, External) and target.name in ("click.command", "click.group")


def _begin(parser: Parser, found: _Decorator, path: str) -> None:
    """Do what ``command()`` does, of click or of a group."""
    is_group = isinstance(found.target, (External, Method)) and _name(found.target) == "group"
    if is_group:
        parser.add_subcommands()
    if isinstance(found.target, Method) and isinstance(found.target.owner, Command):
        parser.made_as_child = True
        parser.flags[:] = [msgspec.structs.replace(flag, required=False) for flag in parser.flags]
        found.target.owner.parser.children.append(parser)
    about = found.keywords.get("context_settings", {})
    names: Value = ["--help"]
    if isinstance(about, dict):
        names = about.get("help_option_names", names)
        if about.get("ignore_unknown_options") or about.get("allow_extra_args"):
            parser.leave_open("unknown options are handed on")
    elif about is not None:
        parser.leave_open("the settings of the command are not known")
    if {"cls", "**"} & found.keywords.keys() or (
        isinstance(about, dict) and {"default_map", "auto_envvar_prefix"} & about.keys()
    ):
        parser.leave_open("the command is of a class of its own")
    if found.keywords.get("add_help_option", True) is not False:
        parser.add(list(iterate(names) or [UNKNOWN]), {"action": "help"}, path, found.line)


def _name(target: External | Method) -> str:
    return target.last if isinstance(target, External) else target.name


def _add(parser: Parser, found: _Decorator, path: str) -> None:
    """Do what another decorator does: one of click's, or one that may add anything."""
    target = found.target
    if not isinstance(target, External) or not target.name.startswith("click."):
        parser.leave_open("a decorator of its own may add options")
    elif target.last == "option":
        _add_option(parser, found, path)
    elif target.last == "argument":
        names = [name for name in found.positional if isinstance(name, str)] or ["argument"]
        nargs = found.keywords.get("nargs")
        optional = found.keywords.get("required") is False or "default" in found.keywords
        parser.add(names[:1], {"nargs": ANY if nargs == -1 else "?" if optional else nargs}, path, found.line)
    elif target.last in _OPTIONS:
        parser.add([_OPTIONS[target.last]], {"action": "store_true"}, path, found.line)
    elif target.last not in _SILENT:
        parser.leave_open(f"{target.name} may add options")


def _add_option(parser: Parser, found: _Decorator, path: str) -> None:
    names: list[Value] = []
    for text in found.positional:
        if not isinstance(text, str):
            names.append(UNKNOWN)
        elif text.startswith("-"):
            names += [part.strip() for part in text.split("/")]
        elif "/" in text:
            parser.leave_open("an option is named in a way that is not read")
    if not any(isinstance(name, str) for name in names):
        names.append(UNKNOWN)
    parser.add(names, _keywords(found, any("/" in str(text) for text in found.positional)), path, found.line)


def _keywords(found: _Decorator, is_pair: bool) -> Mapping[str, Value]:
    """Return the keywords of ``add_argument`` that mean what those of ``option`` do."""
    given = found.keywords
    help_text = given.get("help")
    result: dict[str, Value] = {"help": help_text, "default": given.get("default")}
    # A default, the environment or a question may give the value.
    result["required"] = given.get("required") is True and not {"default", "envvar", "prompt"} & given.keys()
    result["deprecated"] = given.get("deprecated")
    if is_pair or given.get("is_flag") is True or "flag_value" in given or given.get("count") is True:
        return {**result, "action": "store_true"}
    if "**" in given or given.get("is_flag") not in (None, False):
        return {**result, "nargs": NOT_KNOWN, "**": UNKNOWN}
    kind = given.get("type")
    if isinstance(kind, tuple):
        return {**result, "nargs": len(kind), "type": UNKNOWN}
    if isinstance(kind, Choices):
        return {**result, "choices": kind.values, "nargs": given.get("nargs")}
    return {**result, "nargs": given.get("nargs"), "type": _type(kind, given.get("default"))}


def _type(kind: Value, default: Value) -> Value:
    """Return the converter of a value: without a type that of the default counts."""
    if kind is None:
        plain = type(default).__name__
        return External(f"builtins.{plain}") if plain in ("int", "float") else None
    if not isinstance(kind, External):
        return UNKNOWN
    name = _NUMBERS.get(kind.last, kind.last) if kind.name.startswith("click.") else kind.last
    return External(f"builtins.{name}") if name in ("int", "float") else UNKNOWN


class Choices(msgspec.Struct, frozen=True):
    """``click.Choice``: the values that it takes, None where case does not count or they are not known."""

    values: tuple[Value, ...] | None


def call_click(target: External, call: Call) -> Value:
    """Call something of click's inside a decorator."""
    if target.last == "Choice":
        found = iterate(call.given(0, "choices"))
        exact = call.keywords.get("case_sensitive", True) is not False
        return Choices(None if found is None or not exact else tuple(found))
    name = _NUMBERS.get(target.last)
    return External(f"builtins.{name}") if name else UNKNOWN


def run(command: Command, call: Call) -> Value:
    """Call a command: it reads the command line, unless it is given words."""
    if not call.positional and not call.keywords.keys() & {"args", "**"}:
        command.parser.events.append("strict")
        call.interpreter.parsers.append(command.parser)
        call.interpreter.finish()
    return UNKNOWN


def command_method(command: Command, name: str, call: Call) -> Value:
    """Call a method of a command: ``add_command``, ``main``."""
    if name == "add_command":
        other = call.given(0, "cmd")
        if isinstance(other, Command):
            command.parser.children.append(other.parser)
        else:
            command.parser.leave_open("a subcommand is not here")
    elif name == "main":
        return run(command, call)
    return UNKNOWN
