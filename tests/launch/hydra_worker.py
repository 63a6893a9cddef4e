"""Run by an interpreter that has hydra-core: reads words as JSON lines, writes how Hydra parses each of them."""

from __future__ import annotations

import json
import sys

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Glob, IntervalSweep, QuotedString, RangeSweep
from hydra.errors import HydraException


def sweep(value: ChoiceSweep | RangeSweep | IntervalSweep | Glob) -> list[object]:
    """Return the kind of a sweep and its arguments."""
    if isinstance(value, ChoiceSweep):
        return ["choice", [plain(item) for item in value.list]]
    if isinstance(value, RangeSweep):
        return ["range", [value.start, value.stop, value.step]]
    if isinstance(value, IntervalSweep):
        return ["interval", [value.start, value.end]]
    return ["glob", [value.include, value.exclude]]


def plain(value: object) -> object:
    """Return a value without Hydra's classes; sweeps as a kind and a list, dicts as pairs."""
    if isinstance(value, (ChoiceSweep, RangeSweep, IntervalSweep, Glob)):
        return sweep(value)
    if isinstance(value, QuotedString):
        return value.text
    if isinstance(value, dict):
        return {"pairs": [[plain(key), plain(item)] for key, item in value.items()]}
    return [plain(item) for item in value] if isinstance(value, list) else value


def main() -> None:
    """Answer each line: operation, key, package and the value's repr, or null where Hydra refuses the word."""
    parser = OverridesParser.create()
    for line in sys.stdin:
        try:
            (found,) = parser.parse_overrides([json.loads(line)])
            answer = [found.type.name, found.key_or_group, found.package, repr(plain(found._value))]
        except HydraException:
            answer = None
        print(json.dumps(answer))


main()
