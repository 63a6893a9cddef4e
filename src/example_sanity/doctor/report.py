"""What the doctor prints: a table of what is asked for, then mismatches and notes; or the same as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from example_sanity.doctor.asked import Asked, Place
from example_sanity.doctor.findings import Statement
from example_sanity.doctor.versions import Row
from example_sanity.doctor.windows import shown
from example_sanity.report.model import counted, printable
from example_sanity.report.text import paint

if TYPE_CHECKING:
    from example_sanity.doctor.command import Diagnosis

Data = dict[str, Any]
_STYLES = {"missing": "error", "outside": "error", "unknown": "warning", "ok": "fix"}
_MOST_NAMED = 6


def data(found: Diagnosis) -> Data:
    """Return everything as JSON data: the environment, the rows of the table, mismatches, notes, and what was left out."""
    return {
        "version": 1,
        "path": found.script.path if found.script else None,
        "python": {
            "version": found.environment.version,
            "prefix": str(found.environment.prefix),
            "folders": [str(folder) for folder in found.environment.folders],
            "distributions": len(found.environment.distributions),
            "platform": found.environment.platform,
        },
        "requirements": [_row(row) for row in found.rows],
        "pins": [{"package": pin.package, "reference": pin.reference, "at": pin.at} for pin in found.pins],
        "starts": [entry.module or entry.file for entry in (found.launch.entries if found.launch else ())],
        "gpus": found.gpus,
        "mismatches": [_statement(item) for item in found.verdict.mismatches],
        "notes": [_statement(item) for item in found.verdict.notes],
        "not_held_to": _left_out(found.sources.asked),
        "problems": list(found.problems),
    }


def _row(row: Row) -> Data:
    return {
        "name": row.name,
        "installed": row.installed.version if row.installed else None,
        "status": row.status.value,
        "asked": [_asked(item) for item in row.asked],
    }


def _asked(item: Asked) -> Data:
    return {
        "window": shown(item.window),
        "extras": list(item.extras),
        "reference": item.reference,
        "kind": item.kind,
        "source": item.source,
        **_place(item.place),
    }


def _place(place: Place) -> Data:
    return {"path": place.path, "line": place.line, "text": place.text}


def _statement(item: Statement) -> Data:
    return {
        "kind": item.kind.value,
        "name": item.name,
        "message": item.message,
        "places": [_place(place) for place in item.places],
        "fix": item.fix,
    }


def _left_out(asked: Sequence[Asked]) -> list[Data]:
    """The sources that the environment is not held to, each with its kind and how many requirements it has."""
    held = {item.source for item in asked if item.held}
    counts = Counter(
        (item.source, item.kind) for item in asked if item.source not in held and item.kind != "overridden"
    )
    return [
        {"source": source, "kind": kind, "requirements": number} for (source, kind), number in counts.items()
    ]


def text(found: Data, colour: bool) -> Iterator[str]:
    """Yield the lines of the report."""
    python = found["python"]
    subject = f"{found['path']} and its repository" if found["path"] else "The repository"
    yield printable(
        f"{subject} against Python {python['version']} in {python['prefix']} "
        f"({counted(python['distributions'], 'distribution')})"
    )
    if found["requirements"]:
        yield ""
        yield from _table(found["requirements"], colour)
    yield from _pin_lines(found)
    if found["gpus"]:
        yield ""
        yield f"{found['gpus'][0].upper()}{printable(found['gpus'][1:])}."
    yield from (f"could not evaluate {printable(problem)}" for problem in found["problems"])
    for item in _with_missing_together(found["mismatches"]):
        yield from ("", *_statement_lines(item, "error", colour))
    for item in found["notes"]:
        yield from ("", *_statement_lines(item, "warning", colour))
    yield from _left_out_lines(found["not_held_to"])
    yield ""
    number = len(found["mismatches"])
    verdict = counted(number, "mismatch") if number else "No mismatch"
    asked = counted(len(found["requirements"]), "distribution")
    yield paint(f"{verdict}: {asked} asked for", "error" if number else "fix", colour)


def _pin_lines(found: Data) -> Iterator[str]:
    """The pins that the table does not show: of submodules, and of images whose content need not be installed."""
    told = {
        f"{item['path']}:{item['line']}"
        for row in found["requirements"]
        if row["status"] != "absent"
        for item in row["asked"]
    }
    pins = [pin for pin in found["pins"] if pin["at"] not in told]
    if pins:
        yield ""
        yield "Pinned besides (by submodules and images; nothing of it has to be installed):"
    for pin in pins:
        yield printable(f"  {pin['package']} {pin['reference']} ({pin['at']})")


def _table(rows: Sequence[Data], colour: bool) -> Iterator[str]:
    cells = [
        (
            row["status"],
            row["name"],
            row["installed"] or "-",
            " ".join(dict.fromkeys(_wanted(item) for item in row["asked"])).strip() or "any",
            ", ".join(dict.fromkeys(_where(item) for item in row["asked"])),
        )
        for row in rows
        if row["status"] != "absent"
    ]
    heads = ("status", "distribution", "installed", "asked for", "where")
    widths = [max(len(cell[column]) for cell in (heads, *cells)) for column in range(4)]
    yield paint(_line(heads, widths), "dim", colour)
    for cell in cells:
        line = printable(_line(cell, widths))
        status = paint(cell[0], _STYLES[cell[0]], colour)
        yield status + line[len(cell[0]) :]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
    return "  ".join([*padded, cells[-1]]).rstrip()


def _wanted(item: Data) -> str:
    extras = f"[{','.join(item['extras'])}]" if item["extras"] else ""
    return f"{extras}{item['window'] or item['reference'] or ''}"


def _where(item: Data) -> str:
    name = f" ({item['kind']} {item['source']})" if item["kind"] in {"extra", "group"} else ""
    return f"{item['path']}:{item['line']}{name}"


def _with_missing_together(mismatches: Sequence[Data]) -> list[Data]:
    """The mismatches with all that is missing as one: the table says where each is asked for."""
    missing = [item for item in mismatches if item["kind"] == "missing"]
    if len(missing) < 2:
        return list(mismatches)
    names = ", ".join(item["name"] for item in missing)
    together: Data = {
        "kind": "missing",
        "message": f"{counted(len(missing), 'distribution')} are not installed: {names}",
        "places": [],
        "fix": _one_command([item["fix"] for item in missing if item["fix"]]),
    }
    return [together, *(item for item in mismatches if item["kind"] != "missing")]


def _one_command(fixes: Sequence[str]) -> str | None:
    start = "pip install "
    return start + " ".join(fix.removeprefix(start) for fix in fixes) if fixes else None


def _statement_lines(item: Data, style: str, colour: bool) -> Iterator[str]:
    yield f"{paint(item['kind'], style, colour)}: {printable(item['message'])}"
    for place in item["places"]:
        shown = f"{place['path']}:{place['line']}" if place["line"] else place["path"]
        yield paint(printable(f"  = {shown}: {place['text']}".removesuffix(": ")), "dim", colour)
    if item["fix"]:
        yield paint(f"  = fix: {printable(item['fix'])}", "fix", colour)


def _left_out_lines(left_out: Sequence[Data]) -> Iterator[str]:
    """One line for each kind of source that was not compared."""
    kinds: dict[str, list[str]] = {}
    for item in left_out:
        kinds.setdefault(item["kind"], []).append(item["source"])
    if kinds:
        yield ""
        yield "Not held to (name one with --with):"
    for kind, names in kinds.items():
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        yield printable(f"  {kind}: {', '.join(names[:_MOST_NAMED])}{more}")
