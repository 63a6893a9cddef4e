"""``show`` and ``plan`` as text, made from their data (``example_sanity.show``)."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from example_sanity.report.suggestions import suggestion_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Data = dict[str, Any]
NOT_AT_HAND = "not checked, its git objects are not at hand (name a checkout of it in source-roots) and no such release is shipped"


def show_text(data: Data) -> Iterator[str]:
    """Yield the lines of the launch plan."""
    yield data["path"]
    yield from _knob_lines(data["knobs"])
    yield ""
    yield "Scenarios"
    for item in data["scenarios"]:
        ended = "" if not item["status"] else f", exit status {item['status']}"
        required = f", needs {', '.join(item['placeholders'])}" if item["placeholders"] else ""
        yield f"  {item['name']}: {item['launches']} launched{ended}{required}"
        yield from (f"      {line}" for line in item["stderr"])
    yield from (f"  could not evaluate {problem}" for problem in data["problems"])
    if not data["launches"]:
        yield ""
        yield "Launches nothing in the first scenario."
    for number, launch in enumerate(data["launches"], 1):
        yield ""
        yield from _launch_lines(number, launch)
    if data["pins"]:
        yield ""
        yield "Pins"
        yield from map(_pin_line, data["pins"])
    if data["mesh"]:
        yield ""
        yield "Mesh"
        yield from (line for item in data["mesh"] for line in _mesh_lines(item))


def _pin_line(item: Data) -> str:
    short = item["reference"][:9] if len(item["reference"]) == 40 else item["reference"]
    held = f"checked against {item['against']}" if item["against"] else NOT_AT_HAND
    return f"  {item['package']} {short} ({item['at']}): {held}"


def _knob_lines(knobs: Sequence[Data]) -> Iterator[str]:
    width = max((len(item["name"]) for item in knobs), default=0)
    region: object = ()
    for item in sorted(knobs, key=lambda knob: knob["line"]):
        if item["region"] != region:
            region = item["region"]
            yield ""
            yield f"Knobs: {region}" if region else "Knobs outside every region"
        default = "(required)" if item["required"] else f"{item['default']}"
        resolved = "" if item["value"] in (None, item["default"]) else f"  = {item['value']}"
        yield f"  {item['name']:{width}}  {default}{resolved}  [line {item['line']}]"


def _launch_lines(number: int, launch: Data) -> Iterator[str]:
    """The command with its words in the groups (arrays) that they came from."""
    yield f"Launch {number}: {launch['kind']} {launch['program']}"
    group: object = ()
    origins = launch["origins"] or [None] * len(launch["argv"])
    only = launch.get("only")
    known = {item["word"]: item for item in launch["settings"] if "default" in item}
    for place, (word, origin) in enumerate(zip(launch["argv"], origins, strict=True)):
        if only is not None and place not in only:
            continue
        name = origin["group"] if origin else None
        if name != group:
            group = name
            yield f"  {name}" if name else "  command line"
        yield f"    {_quoted(word)}{_default_text(known.get(place))}"


def _default_text(item: Data | None) -> str:
    """The default that a word overrides, and where it is written."""
    if item is None or isinstance(item["default"], dict):
        return ""
    value = json.dumps(item["default"], ensure_ascii=False, default=str)
    shown = value if len(value) <= 40 else f"{value[:37]}..."
    return f"  [default {shown}{', ' + item['default_at'] if item['default_at'] else ''}]"


def _quoted(word: str) -> str:
    return (
        word
        if word and all(char.isprintable() and char not in " \"'$`\\" for char in word)
        else shlex.quote(word)
    )


def _mesh_lines(item: Data) -> Iterator[str]:
    sizes = {"world": item["world"], **item["sizes"], **item["derived"]}

    def product(*symbols: str) -> str:
        return "·".join(f"{symbol}{sizes.get(symbol, '?')}" for symbol in symbols)

    verdict = "legal" if item["legal"] else "NOT legal"
    yield f"  {item['scenario']}: {item['backend']} ({item['role']}), {verdict}"
    products = [product(*parts, derived) for derived, parts in item["splits"].items()]
    yield "    " + " = ".join([f"{item['world']} GPUs", *products])
    yield from (f"    {violation['code']}: {violation['message']}" for violation in item["violations"])


def plan_text(data: Data) -> Iterator[str]:
    """Yield the lines of the plan."""
    yield data["path"]
    yield from (f"  could not evaluate {problem}" for problem in data["problems"])
    if not data["plans"]:
        yield "  no mesh is known: no entry of a known backend, or a size that depends on what was not given"
    for item in data["plans"]:
        yield from _mesh_lines(item)
        if item["guard"]:
            yield from _guard_lines(item["guard"])
        if "suggestions" in item:
            yield from suggestion_lines(item["suggestions"])
        if "drawing" in item:
            yield from (f"    {line}".rstrip() for line in ["", *item["drawing"].split("\n"), ""])


def _guard_lines(guard: Data) -> Iterator[str]:
    tried = f"{guard['tried']} assignments tried, {guard['accepted']} accepted"
    tried += f", {guard['undecided']} more stop for another reason" if guard["undecided"] else ""
    if guard["exact"]:
        yield f"    guard: exact ({tried})"
        return
    yield f"    guard: WRONG ({tried})"
    if guard["unsound"]:
        yield f"      unsound: accepts {_setting_text(guard['unsound'])}: {'; '.join(guard['unsound']['problems'])}"
    if guard["strict"]:
        yield f"      too strict: rejects {_setting_text(guard['strict'])}: legal, {_derived_text(guard['strict'])}"
    for wrong in guard["wrong_derived"]:
        yield f"      wrong {wrong['size']}: shows {wrong['shown']} for {wrong['right']} with {_setting_text(wrong)}"


def _setting_text(example: Data) -> str:
    return " ".join(f"{knob}={size}" for knob, size in example["changed"].items()) or "the defaults"


def _derived_text(example: Data) -> str:
    return ", ".join(f"{symbol} {size}" for symbol, size in example["derived"].items())
