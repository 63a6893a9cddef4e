"""What the library does for the read program: argparse itself, parsers made of dataclasses, and a few builtins."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from example_sanity.core.regex import regex
from example_sanity.schema.argparse import dataclass_parsers, plain
from example_sanity.schema.argparse.click_commands import Command, call_click, command_method
from example_sanity.schema.argparse.dataclass_fields import fields
from example_sanity.schema.argparse.dataclass_parsers import Factory
from example_sanity.schema.argparse.dotlist import Words, call_omegaconf, words_method
from example_sanity.schema.argparse.parsers import Parser, parsers_in
from example_sanity.schema.argparse.statements import ARGV_CHANGES
from example_sanity.schema.argparse.values import (
    UNKNOWN,
    Class,
    External,
    Function,
    Instance,
    Method,
    Partial,
    Value,
    choice,
    iterate,
    options,
)

if TYPE_CHECKING:
    from example_sanity.schema.argparse.plain import Call

_TYRO = frozenset({"tyro.cli", "tyro.extras.overridable_config_cli"})
_READS = regex(r"parse_(?:known_)?arg|parse_and_|parse_cli|parse_config|^parse$")
_CHANGES = frozenset({"append", "clear", "extend", "insert", "pop", "remove"})
_PARSER_CLASSES = regex(r"\w*ArgumentParser|ArgParser|\w*ArgParser")


def instantiate(of: Class, call: Call) -> Value:
    """Make an object of a class of the program."""
    interpreter = call.interpreter
    lineage = interpreter.ancestry(of)
    bases = [base for item in lineage for base in interpreter.bases(item) if isinstance(base, External)]
    if any(item.node.name == dataclass_parsers.GROUP_FACTORY for item in lineage):
        return _factory(call)
    made = next((_new_parser(base, call) for base in bases if _is_parser(base)), None)
    if made is not None:
        made.made_by = of
        if any(getattr(node, "name", "") == "add_argument" for item in lineage for node in item.node.body):
            made.leave_open(f"{of.node.name} has an add_argument of its own")
    new: Value = Instance(of) if made is None else made
    start = interpreter.member(of, "__init__", new)
    if made is not None and any(base.last in dataclass_parsers.DATACLASS_PARSERS for base in bases):
        _take_dataclasses(made, start, call)
    if isinstance(start, Function):
        interpreter.apply(start, call)
    return new


def _take_dataclasses(made: Parser, start: Value, call: Call) -> None:
    """Add what a subclass of a parser of dataclasses gets from its base."""
    if isinstance(start, Function):
        made.leave_open("the parser's own __init__ decides on the dataclasses")
    else:
        dataclass_parsers.add_hf_fields(made, call.given(0, "dataclass_types"), call.interpreter)


def _factory(call: Call) -> Factory:
    return Factory(call.given(0, "src_cfg_class"), call.given(1, "exclude"))


def _is_parser(base: External) -> bool:
    return bool(_PARSER_CLASSES.fullmatch(base.last)) or base.last in dataclass_parsers.DATACLASS_PARSERS


def _new_parser(made_of: External, call: Call) -> Parser:
    parser = Parser(abbreviations=call.keywords.get("allow_abbrev", True) is not False)
    known = made_of.name in ("argparse.ArgumentParser", "argparse.ArgumentDefaultsHelpFormatter")
    if not known and made_of.last not in dataclass_parsers.DATACLASS_PARSERS:
        parser.leave_open(f"{made_of.name} may add flags, and its source is not here")
    if call.keywords.get("add_help", True) is not False:
        parser.add(("-h", "--help"), {"action": "help"}, "", 0)
    if call.keywords.get("fromfile_prefix_chars") is not None:
        parser.leave_open("flags may come from a file")
    parents = iterate(call.keywords.get("parents", []))
    for parent in [UNKNOWN] if parents is None else parents:
        if isinstance(parent, Parser):
            parser.children.append(parent)
        else:
            parser.leave_open("a parent parser is not known")
    call.interpreter.parsers.append(parser)
    return parser


def external(target: External, call: Call) -> Value:
    """Call something whose source is not here."""
    if _is_parser(target):
        return _library_parser(target, call)
    if target.name.startswith("omegaconf.OmegaConf."):
        return call_omegaconf(target, call)
    if target.name.startswith("click."):
        return call_click(target, call)
    if target.name.startswith("builtins."):
        return plain.builtin(target.last, call)
    if target.name in _TYRO:
        dataclass_parsers.tyro(call)
        return UNKNOWN
    treat = TREATED.get(target.last)
    return _foreign(target, call) if treat is None or not call.positional else treat(call)


def _library_parser(target: External, call: Call) -> Parser:
    parser = _new_parser(target, call)
    if target.last in dataclass_parsers.DATACLASS_PARSERS:
        dataclass_parsers.add_hf_fields(parser, call.given(0, "dataclass_types"), call.interpreter)
    return parser


def _foreign(target: External, call: Call) -> Value:
    if _READS.search(target.last):
        reason = f"{target.name} reads the command line, and its source is not here"
        call.interpreter.unresolved.append(reason)
    if target.name.startswith("sys.argv.") and target.last in _CHANGES:
        call.interpreter.unresolved.append(ARGV_CHANGES)
    prefix = _package_prefix(call)
    for parser in parsers_in([*call.positional, *call.keywords.values()]) if prefix else ():
        parser.prefixes.add(prefix)
    if not prefix:
        call.interpreter.escape(call, target.name)
    return UNKNOWN


def _package_prefix(call: Call) -> str:
    """The start of the flags that a package adds: ``add_cli_args(parser, use_router_prefix=True)``."""
    for name, value in call.keywords.items():
        found = re.fullmatch(r"use_(\w+)_prefix", name)
        if found and value is True:
            return f"--{found[1].replace('_', '-')}-"
        if name == "prefix" and isinstance(value, str) and re.fullmatch(r"-*\w[\w-]*[-_.]?", value):
            return f"--{value.strip('-_.')}"
    return ""


def _field_list(call: Call) -> Value:
    of = call.positional[0]
    if not isinstance(of, Class):
        return UNKNOWN
    found = fields(of, call.interpreter)
    # An element that is not known stands for the fields of the base that is missing.
    return [*found.items, *([UNKNOWN] if found.missing else [])]


def _partials(call: Call) -> Value:
    return choice([_partial(option, call) for option in options(call.positional[0])])


def _partial(target: Value, call: Call) -> Value:
    if not isinstance(target, Function):
        return UNKNOWN
    bound = (*target.bound, *call.positional[1:])
    return Function(target.module, target.node, target.scope, bound, {**target.keywords, **call.keywords})


def method(target: Method, call: Call) -> Value:
    """Call a method of a parser, a list, a text or a dictionary."""
    owner, name = target.owner, target.name
    if isinstance(owner, Parser):
        return parser_method(owner, name, call)
    if isinstance(owner, Command):
        return command_method(owner, name, call)
    if isinstance(owner, Words):
        return words_method(owner, name, call)
    if isinstance(owner, Factory):
        return _build_group(owner, call)
    if isinstance(owner, (list, dict, str, Partial)):
        return plain.method(owner, name, call)
    if owner is UNKNOWN and _READS.search(name):
        call.interpreter.unresolved.append("a parser that is not in the source reads the command line")
    call.interpreter.escape(call, f"something called {name}")
    return UNKNOWN


def _annotated(call: Call) -> Value:
    dataclass_parsers.add_annotated_fields(call)
    return None


def _build_group(factory: Factory, call: Call) -> Value:
    for parser in parsers_in(call.positional[:1] or list(call.keywords.values())):
        dataclass_parsers.build_group(parser, factory, call.interpreter)
        return parser
    return UNKNOWN


def parser_method(parser: Parser, name: str, call: Call) -> Value:
    """Call a method of a parser."""
    module = call.scope.module
    if name == "add_argument":
        given = call.keywords
        if call.interpreter.branches or parser.made_as_child:
            # Whether it is added at all depends on something, so nothing is certain to miss it.
            given = {key: value for key, value in given.items() if key != "required"}
        parser.add(call.positional, given, module.path, call.node.lineno)
    elif name in ("add_argument_group", "add_mutually_exclusive_group"):
        return parser
    elif name == "add_subparsers":
        parser.add_subcommands()
        return parser
    elif name == "add_parser":
        child = _new_parser(External("argparse.ArgumentParser"), call)
        child.made_as_child = True
        parser.children.append(child)
        return child
    elif name in ("add_arguments", "add_dataclass_arguments"):
        parser.leave_open(f"{name} adds flags that are not read here")
    elif name.startswith("parse_"):
        return _parsed(parser, name, call)
    return UNKNOWN


def _parsed(parser: Parser, name: str, call: Call) -> Value:
    """A parser reads something; what is written in the program is not the command line."""
    words = call.given(0, "args")
    if isinstance(words, (list, tuple)) or name in ("parse_json_file", "parse_dict", "parse_yaml_file"):
        return UNKNOWN
    lenient = "known" in name or call.keywords.get("return_remaining_strings", False) is not False
    if not lenient:
        parser.events.append("strict")
        call.interpreter.finish()
    else:
        parser.events.append("dropping" if call.node in call.interpreter.dropping else "forwarding")
    return UNKNOWN


TREATED: dict[str, Callable[[Call], Value]] = {
    dataclass_parsers.ANNOTATED: _annotated,
    "fields": _field_list,
    "dataclass_fields": _field_list,
    "dc_fields": _field_list,
    "partial": _partials,
    dataclass_parsers.GROUP_FACTORY: _factory,
}
