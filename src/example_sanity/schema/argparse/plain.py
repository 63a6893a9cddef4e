"""Builtins, and the methods of lists, dictionaries and texts, as far as their values are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from example_sanity.schema.argparse.values import UNKNOWN, Instance, Partial, Scope, Value, iterate

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Sequence

    from example_sanity.schema.argparse.interpreter import Interpreter

_HARMLESS = frozenset(
    [
        "print",
        "isinstance",
        "hasattr",
        "vars",
        "id",
        "repr",
        "type",
        "callable",
        "dir",
        "super",
        "bool",
        "int",
        "float",
    ]
)
_PURE_TEXT = frozenset(
    [
        "replace",
        "lstrip",
        "rstrip",
        "strip",
        "lower",
        "upper",
        "title",
        "removeprefix",
        "removesuffix",
        "startswith",
        "endswith",
    ]
)
_LONGEST_RANGE = 500


class Call(msgspec.Struct):
    """A call that is being made: its values, and where it stands."""

    interpreter: Interpreter
    node: ast.Call
    scope: Scope
    positional: list[Value]
    keywords: dict[str, Value]

    def given(self, place: int, name: str, default: Value = None) -> Value:
        """Return an argument that may be positional or a keyword."""
        if len(self.positional) > place:
            return self.positional[place]
        return self.keywords.get(name, UNKNOWN if "**" in self.keywords else default)


def builtin(name: str, call: Call) -> Value:
    """Call a builtin."""
    treat = _BUILTINS.get(name)
    if treat is not None:
        return treat(call)
    if name not in _HARMLESS:
        call.interpreter.escape(call, name)
    return UNKNOWN


def _sequence(call: Call) -> Value:
    elements = call.interpreter.elements(call.positional[0]) if call.positional else iter([])
    return UNKNOWN if elements is None else list(elements)


def _tuple(call: Call) -> Value:
    found = _sequence(call)
    return tuple(found) if isinstance(found, list) else UNKNOWN


def _dict(call: Call) -> Value:
    first = call.given(0, "", {})
    return {**first, **call.keywords} if isinstance(first, dict) else UNKNOWN


def _str(call: Call) -> Value:
    first = call.given(0, "object", "")
    return str(first) if isinstance(first, (str, int, float)) else UNKNOWN


def _len(call: Call) -> Value:
    first = call.given(0, "obj")
    return len(first) if isinstance(first, (list, tuple, dict, str)) else UNKNOWN


def _range(call: Call) -> Value:
    numbers = [item for item in call.positional if isinstance(item, int)]
    if not numbers or len(numbers) < len(call.positional) or 0 in numbers[2:]:
        return UNKNOWN
    return list(range(*numbers)[:_LONGEST_RANGE])


def _enumerate(call: Call) -> Value:
    elements = iterate(call.given(0, "iterable"))
    return UNKNOWN if elements is None else list(enumerate(elements))


def _zip(call: Call) -> Value:
    parts = [iterate(item) for item in call.positional]
    known = [part for part in parts if part is not None]
    return list(zip(*known, strict=False)) if len(known) == len(parts) else UNKNOWN


def _getattr(call: Call) -> Value:
    name = call.given(1, "name")
    return call.interpreter.attribute(call.positional[0], name) if isinstance(name, str) else UNKNOWN


def _setattr(call: Call) -> Value:
    owner, name = call.given(0, "obj"), call.given(1, "name")
    if isinstance(owner, Instance) and isinstance(name, str):
        owner.attributes[name] = call.given(2, "value")
    return None


_BUILTINS: dict[str, Callable[[Call], Value]] = {
    "list": _sequence,
    "sorted": _sequence,
    "set": _sequence,
    "tuple": _tuple,
    "dict": _dict,
    "str": _str,
    "len": _len,
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "getattr": _getattr,
    "setattr": _setattr,
}


def method(owner: list[Value] | dict[Value, Value] | str | Partial, name: str, call: Call) -> Value:
    """Call a method of plain data."""
    if isinstance(owner, list):
        return _list_method(owner, name, call)
    if isinstance(owner, dict):
        return _dict_method(owner, name, call)
    return _text_method(owner, name, call) if isinstance(owner, str) else UNKNOWN


def _list_method(owner: list[Value], name: str, call: Call) -> Value:
    first = call.given(0, "", UNKNOWN)
    if name == "append":
        owner.append(first)
    elif name == "extend":
        elements = iterate(first)
        owner += [UNKNOWN] if elements is None else elements
    elif name == "copy":
        return list(owner)
    return UNKNOWN


def _dict_method(owner: dict[Value, Value], name: str, call: Call) -> Value:
    views: dict[str, Sequence[Value]] = {
        "items": [*owner.items()],
        "keys": [*owner],
        "values": [*owner.values()],
    }
    if name in views:
        return views[name]
    key = call.given(0, "")
    if name == "copy":
        return dict(owner)
    if name == "update":
        owner.update(key if isinstance(key, dict) else {})
        owner.update(call.keywords)
    elif name in ("get", "pop", "setdefault") and isinstance(key, str) and "**" not in owner:
        return _looked_up(owner, name, key, call.given(1, "default"))
    return UNKNOWN


def _looked_up(owner: dict[Value, Value], name: str, key: str, fallback: Value) -> Value:
    if name == "pop":
        return owner.pop(key, fallback)
    return owner.setdefault(key, fallback) if name == "setdefault" else owner.get(key, fallback)


def _text_method(owner: str, name: str, call: Call) -> Value:
    texts = [item for item in call.positional if isinstance(item, str)]
    if name in _PURE_TEXT and len(texts) == len(call.positional):
        result: Value = getattr(owner, name)(*texts)
        return result
    if name == "join":
        parts = list(iterate(call.given(0, "iterable")) or [UNKNOWN])
        known = [part for part in parts if isinstance(part, str)]
        return owner.join(known) if len(known) == len(parts) else UNKNOWN
    if name == "format":
        return Partial(owner.partition("{")[0])
    if name == "split" and not call.keywords and len(texts) < 2:
        return [*(owner.split(texts[0]) if texts and texts[0] else owner.split())]
    return UNKNOWN
