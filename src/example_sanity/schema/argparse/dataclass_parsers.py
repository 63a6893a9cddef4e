"""Parsers that are made of dataclasses: Megatron's ArgumentGroupFactory, annotated fields, HfArgumentParser, tyro."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import msgspec

from example_sanity.schema.argparse.dataclass_fields import Described, Field, describe, fields, members
from example_sanity.schema.argparse.parsers import Parser
from example_sanity.schema.argparse.table import ANY, NOT_KNOWN, OPTIONAL, SOME
from example_sanity.schema.argparse.values import UNKNOWN, Class, External, Scope, Value, iterate, options

if TYPE_CHECKING:
    from example_sanity.schema.argparse.interpreter import Interpreter
    from example_sanity.schema.argparse.plain import Call

GROUP_FACTORY = "ArgumentGroupFactory"
ANNOTATED = "add_cli_args_from_dataclass"
DATACLASS_PARSERS = frozenset({"HfArgumentParser", "TrlParser", "H4ArgumentParser"})
_DEEPEST = 6


class Factory(msgspec.Struct, eq=False):
    """An ArgumentGroupFactory: a dataclass, and the names of its fields that get no flag."""

    of: Value
    exclude: Value


def build_group(parser: Parser, factory: Factory, interpreter: Interpreter) -> None:
    """Add the flags of a dataclass as Megatron-LM's megatron/training/argument_utils.py does."""
    of = factory.of
    excluded = iterate(factory.exclude or [])
    if not isinstance(of, Class):
        parser.leave_open("the dataclass of an ArgumentGroupFactory is not here")
        return
    found = fields(of, interpreter)
    if found.missing:
        parser.leave_open(f"{of.node.name} has fields of {found.missing}, whose source is not here")
    left_out = {UNKNOWN} if excluded is None else set(excluded)
    for item in found.items:
        if item.name not in left_out and item.init:
            _add_megatron_field(parser, item, interpreter)
    if UNKNOWN in left_out:
        parser.leave_open("which fields get no flag is not known")


def _add_megatron_field(parser: Parser, item: Field, interpreter: Interpreter) -> None:
    known = describe(item.annotation, item.of, interpreter)
    dashed = item.name.replace("_", "-")
    names: Value = [f"--{dashed}"]
    given: dict[str, Value] = {"default": None if item.default is UNKNOWN else item.default}
    if known.kind == "bool" and not known.many:
        off = item.default is False or item.default == 0
        given["action"] = "store_true" if off else "store_false"
        if not off:
            names = [f"--no-{dashed}", f"--disable-{dashed}"]
    else:
        given.update(_typed(known))
    meta = None if item.metadata is None else item.metadata.get("argparse_meta")
    if isinstance(meta, dict):
        given.update({str(key): value for key, value in meta.items()})
        names = given.pop("arg_names", names)
    given.pop("dest", None)
    texts = iterate(names)
    parser.add([UNKNOWN] if texts is None else list(texts), given, item.path, item.line)


def _typed(known: Described) -> dict[str, Value]:
    """The keywords of add_argument for an annotation."""
    given: dict[str, Value] = {}
    if known.kind == "enum":
        given["choices"] = list(known.members)
        given["type"] = External("enum")
    elif known.kind in ("int", "float", "str"):
        given["type"] = External(f"builtins.{known.kind}")
    elif known.kind not in ("None",):
        given["type"] = External(known.kind)
    if known.choices:
        given["choices"] = list(known.choices)
    if known.many:
        given["nargs"] = SOME
    return given


def add_annotated_fields(call: Call) -> None:
    """Add the flags of fields annotated ``A[type, Arg(...)]`` or ``A[type, "help"]``.

    As sglang's python/sglang/srt/arg_groups/arg_utils.py does; a field without such an annotation gets no flag.
    """
    parser, of = call.given(0, "parser"), call.given(1, "cls")
    if not isinstance(parser, Parser):
        return
    if not isinstance(of, Class):
        parser.leave_open("the dataclass of the annotated fields is not here")
        return
    found = fields(of, call.interpreter)
    if found.missing:
        parser.leave_open(f"{of.node.name} has fields of {found.missing}, whose source is not here")
    chosen = call.given(2, "fields")
    for item in found.items:
        if not isinstance(chosen, list) or item.name in chosen:
            _add_annotated_field(parser, item, call.interpreter)


def _add_annotated_field(parser: Parser, item: Field, interpreter: Interpreter) -> None:
    known = describe(item.annotation, item.of, interpreter)
    said = _said(known, item, interpreter)
    if said is None or said.get("no_cli") is True:
        return
    given = _typed(known)
    if known.kind == "bool" and not known.many:
        given = {"action": "store_true"}
    if said.get("type_parser") is not None:
        given.pop("nargs", None)
        given["type"] = said["type_parser"]
    if said.get("action") is not None:
        given = {"action": said["action"], **_mapping(said.get("action_kwargs"))}
    given.update({key: said[key] for key in ("help", "choices", "nargs") if said.get(key) is not None})
    given["default"] = item.default
    aliases = iterate(said.get("aliases") or [])
    name = said.get("cli_name") or f"--{item.name.replace('_', '-')}"
    parser.add([name, *([UNKNOWN] if aliases is None else aliases)], given, item.path, item.line)


def _said(known: Described, item: Field, interpreter: Interpreter) -> dict[str, Value] | None:
    """What the annotation says of the flag, None where it says nothing."""
    scope = Scope(item.of.module, {}, item.of.scope)
    for node in known.extra:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return {"help": node.value}
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "Arg":
            return {word.arg: interpreter.evaluate(word.value, scope) for word in node.keywords if word.arg}
    return None


def _mapping(value: Value) -> dict[str, Value]:
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def add_hf_fields(parser: Parser, types: Value, interpreter: Interpreter) -> None:
    """Add the flags of dataclasses as transformers' hf_argparser.py does."""
    given = iterate(types) if isinstance(types, (list, tuple)) else iter([types])
    for of in given or ():
        if not isinstance(of, Class):
            parser.leave_open("a dataclass of the parser is not here")
            continue
        found = fields(of, interpreter)
        if found.missing:
            parser.leave_open(f"{of.node.name} has fields of {found.missing}, whose source is not here")
        for item in found.items:
            if item.init:
                _add_hf_field(parser, item, interpreter)


def _add_hf_field(parser: Parser, item: Field, interpreter: Interpreter) -> None:
    known = describe(item.annotation, item.of, interpreter)
    names = list(dict.fromkeys([f"--{item.name}", f"--{item.name.replace('_', '-')}"]))
    about = {} if item.metadata is None else item.metadata
    given: dict[str, Value] = {"default": item.default, "help": about.get("help"), "required": item.required}
    if known.kind == "bool" and not known.many:
        if item.default is True:
            negative = list(dict.fromkeys([f"--no_{item.name}", f"--no-{item.name.replace('_', '-')}"]))
            parser.add(negative, {"action": "store_false"}, item.path, item.line)
        given["nargs"] = OPTIONAL
        given["type"] = External("string_to_bool")
    else:
        given.update(_typed(known))
        if known.kind == "enum" and isinstance(known.value, Class):
            given["choices"] = [member.value for member in members(known.value)]
    if known.union:
        given["type"] = UNKNOWN
    parser.add(names, given, item.path, item.line)


def tyro(call: Call) -> None:
    """``tyro.cli(C)``: nested dataclasses give dotted names, in which underscores and dashes are the same."""
    parser = Parser(abbreviations=False, loose=True, events=["strict"])
    call.interpreter.parsers.append(parser)
    parser.add(("-h", "--help"), {"action": "help"}, "", 0)
    for of in options(call.given(0, "f")):
        if isinstance(of, Class):
            _add_tyro_fields(parser, of, "", call.interpreter, 0)
        else:
            parser.leave_open("what tyro.cli reads is no dataclass that is here")


def _add_tyro_fields(parser: Parser, of: Class, prefix: str, interpreter: Interpreter, depth: int) -> None:
    found = fields(of, interpreter)
    if found.missing or depth > _DEEPEST:
        parser.leave_open(f"{of.node.name} has fields that are not here")
    for item in found.items:
        known = describe(item.annotation, item.of, interpreter)
        if item.init and isinstance(known.value, Class) and known.kind == "class":
            _add_tyro_fields(parser, known.value, f"{prefix}{item.name}.", interpreter, depth + 1)
        elif item.init:
            _add_tyro_field(parser, item, known, prefix)


def _add_tyro_field(parser: Parser, item: Field, known: Described, prefix: str) -> None:
    if known.extra or known.union or known.kind in ("unknown", "class"):
        # Annotated names, subcommands and structured values: the flag may be called otherwise.
        parser.leave_open(f"{item.name} is annotated in a way that is not read")
    names = [f"--{prefix}{item.name}"]
    if known.kind == "bool" and not known.many:
        names.append(f"--{prefix}no-{item.name}")
        parser.add(names, {"nargs": ANY, "type": External("bool")}, item.path, item.line)
        return
    given = _typed(known)
    if known.many:
        given["nargs"] = ANY
    if known.optional:
        given["type"], given["choices"] = UNKNOWN, None
    given.setdefault("nargs", 1 if known.kind in ("int", "float", "str", "enum") else NOT_KNOWN)
    parser.add(names, given, item.path, item.line)
