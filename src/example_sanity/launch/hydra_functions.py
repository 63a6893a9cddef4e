"""The functions of Hydra's override grammar: casts give values, the others describe a sweep.

Source of the rules: hydra/_internal/grammar/grammar_functions.py (1.3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeGuard

import msgspec
from msgspec.structs import replace

Value: TypeAlias = object


class OverrideError(Exception):
    """Why Hydra would refuse a word."""


class Sweep(msgspec.Struct, frozen=True):
    """Several values of one key, for a multirun: ``choice`` with its values; ``range``, ``interval``, ``glob`` with
    their arguments. A launcher without ``--multirun`` must not have one.
    """

    kind: str
    values: tuple[Value, ...]
    tags: tuple[str, ...] = ()


def _argument(positional: tuple[Value, ...], value: Value) -> Value:
    if positional and value is not None:
        raise TypeError("both positional and named arguments")
    if value is not None:
        return value
    if not positional:
        raise TypeError("no argument")
    return positional[0] if len(positional) == 1 else Sweep("choice", positional)


def _cast(scalar: Callable[[str | int | float], Value], refused: frozenset[str]) -> Callable[..., Value]:
    def apply(item: Value) -> Value:
        if isinstance(item, dict):
            return {key: apply(inner) for key, inner in item.items()}
        if isinstance(item, list):
            return [apply(inner) for inner in item]
        if isinstance(item, Sweep):
            if item.kind in refused:
                raise ValueError(f"{item.kind}() cannot be cast")
            return replace(item, values=tuple(apply(inner) for inner in item.values))
        if not isinstance(item, (str, int, float)):
            raise TypeError(f"{item!r} cannot be cast")
        return scalar(item)

    def cast(*positional: Value, value: Value = None) -> Value:
        return apply(_argument(positional, value))

    return cast


def _text(item: str | int | float) -> str:
    return str(item).lower() if isinstance(item, bool) else str(item)


def _truth(item: str | int | float) -> bool:
    if not isinstance(item, str):
        return bool(item)
    if item.lower() not in {"true", "false"}:
        raise ValueError(f"{item!r} is neither true nor false")
    return item.lower() == "true"


def _choice(*options: Value) -> Sweep:
    if not options:
        raise ValueError("no options")
    if len(options) == 1 and isinstance(options[0], Sweep) and options[0].kind == "choice":
        return options[0]
    return Sweep("choice", options)


def _number(item: Value) -> int | float:
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        raise TypeError(f"{item!r} is no number")
    return item


def _range(start: Value, stop: Value = None, step: Value = 1) -> Sweep:
    first, last = (0, start) if stop is None else (start, stop)
    return Sweep("range", (_number(first), _number(last), _number(step)))


def _interval(start: Value, end: Value) -> Sweep:
    return Sweep("interval", (float(_number(start)), float(_number(end))))


def _glob(include: Value, exclude: Value = None) -> Sweep:
    return Sweep("glob", (_patterns(include), _patterns([] if exclude is None else exclude)))


def _patterns(item: Value) -> tuple[Value, ...]:
    if not isinstance(item, (str, list)):
        raise TypeError(f"{item!r} is no pattern")
    return (item,) if isinstance(item, str) else tuple(item)


def _tag(*words: Value, sweep: Value = None) -> Sweep:
    *tags, last = [*words, sweep] if sweep is not None else words
    if not isinstance(last, Sweep):
        raise ValueError("the last argument must be choice(), range() or interval()")
    return replace(last, tags=tuple(sorted({str(tag) for tag in tags})))


def _collected(items: tuple[Value, ...], sweep: Value, listed: Value) -> Value:
    named = listed if listed is not None else sweep
    if named is not None:
        return named
    return items[0] if len(items) == 1 else Sweep("choice", items)


def _shuffle(*items: Value, sweep: Value = None, list: Value = None) -> Value:  # noqa: A002
    result = _collected(items, sweep, list)
    if isinstance(result, Sweep):
        return result
    return result if _is_list(result) else [result]


def _sort(*items: Value, sweep: Value = None, list: Value = None, reverse: Value = False) -> Value:  # noqa: A002
    if not items and sweep is None and list is None:
        raise ValueError("nothing to sort")
    result = _collected(items, sweep, list)
    if isinstance(result, Sweep) and result.kind == "choice":
        return replace(result, values=tuple(_in_order(result.values, bool(reverse))))
    if isinstance(result, Sweep):
        return result
    return _in_order(tuple(result), bool(reverse)) if _is_list(result) else result


def _is_list(item: Value) -> TypeGuard[list[Value]]:
    return isinstance(item, list)


def _in_order(values: tuple[Value, ...], reverse: bool) -> list[Value]:
    numbers = [item for item in values if isinstance(item, (int, float))]
    texts = [item for item in values if isinstance(item, str)]
    if len(numbers) == len(values):
        return [*sorted(numbers, reverse=reverse)]
    if len(texts) == len(values):
        return [*sorted(texts, reverse=reverse)]
    raise TypeError("values of several types have no order")


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "int": _cast(int, frozenset()),
    "float": _cast(float, frozenset()),
    "str": _cast(_text, frozenset({"range", "interval"})),
    "bool": _cast(_truth, frozenset({"range", "interval"})),
    "choice": _choice,
    "range": _range,
    "interval": _interval,
    "glob": _glob,
    "tag": _tag,
    "sort": _sort,
    "shuffle": _shuffle,
}
