"""The launch plan of one launcher as a section of the page: knobs, scenarios, command, settings, meshes."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from example_sanity.report.model import counted, one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from example_sanity.report.model import Plan

_Data = dict[str, Any]


def plan_section(plan: Plan) -> Iterator[str]:
    """Yield the section of one launcher, closed; its summary says the worlds and whether the meshes are legal."""
    data = plan.data
    yield f'<details class="plan" data-path="{escape(data["path"])}">'
    yield f"<summary><code>{escape(printable(data['path']))}</code> {_meshes_in_words(data['mesh'])}</summary>"
    for problem in data["problems"]:
        yield f'<p class="bad">could not evaluate {_text(problem)}</p>'
    yield from _meshes(data["mesh"], plan.drawings)
    yield from _knobs(data["knobs"])
    yield from _scenarios(data["scenarios"])
    for number, launch in enumerate(data["launches"], 1):
        yield from _launch(number, launch)
    yield "</details>"


def _text(text: object) -> str:
    return escape(one_line(str(text)))


def _meshes_in_words(meshes: Sequence[_Data]) -> str:
    if not meshes:
        return "<small>no mesh known</small>"
    worlds = sorted({mesh["world"] for mesh in meshes})
    wrong = sum(not mesh["legal"] for mesh in meshes)
    gpus = f"{', '.join(map(str, worlds))} GPU{'' if worlds == [1] else 's'}"
    state = f'<span class="bad">{counted(wrong, "illegal mesh")}</span>' if wrong else "legal"
    return f"<small>{gpus}, {state}</small>"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    titles = "".join(f"<th>{title}</th>" for title in head)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{titles}</tr>{body}</table></div>'


def _meshes(meshes: Sequence[_Data], drawings: Sequence[str | None]) -> Iterator[str]:
    """The meshes, those that differ only in the scenario once."""
    drawn: dict[str, str] = {}
    for mesh, drawing in zip(meshes, drawings, strict=True):
        where = f"{mesh['scenario']}: {mesh['backend']} ({mesh['role']})"
        sizes = {"world": mesh["world"], **mesh["sizes"], **mesh["derived"]}
        legal = "legal" if mesh["legal"] else '<span class="bad">not legal</span>'
        yield f"<h3>Mesh in {_text(where)}, {legal}</h3>"
        yield _table(list(map(_text, sizes)), [list(sizes.values())])
        for violation in mesh["violations"]:
            yield f'<p class="bad">{_text(violation["code"])}: {_text(violation["message"])}</p>'
        yield from _drawing(mesh, drawing, where, drawn)


def _drawing(mesh: _Data, drawing: str | None, where: str, drawn: dict[str, str]) -> Iterator[str]:
    if drawing is not None:
        if drawing in drawn:
            yield f"<p>The ranks are grouped as in {_text(drawn[drawing])}.</p>"
        else:
            row = "a row is a node" if "gpn" in mesh["sizes"] else "a row begins with its first rank"
            yield f"<p>Ranks of one colour and number share a group; {row}.</p>"
            yield f'<div class="wide">{drawing}</div>'
        drawn.setdefault(drawing, where)
    elif mesh["legal"]:
        yield f"<p>The grid of {mesh['world']} ranks is too large to draw.</p>"


def _knobs(knobs: Sequence[_Data]) -> Iterator[str]:
    if not knobs:
        return
    yield "<h3>Knobs</h3>"
    rows = [
        (
            knob["line"],
            knob["name"],
            "(required)" if knob["required"] else knob["default"],
            "" if knob["value"] in (None, knob["default"]) else knob["value"],
            knob["region"] or "",
        )
        for knob in knobs
    ]
    yield _table(["line", "name", "default", "value", "region"], rows)


def _scenarios(scenarios: Sequence[_Data]) -> Iterator[str]:
    yield "<h3>Scenarios</h3>"
    rows = [
        (
            item["name"],
            item["launches"],
            item["status"],
            ", ".join(item["placeholders"]),
            " ".join(item["stderr"]),
        )
        for item in scenarios
    ]
    yield _table(["name", "launches", "exit status", "needs", "said"], rows)


def _launch(number: int, launch: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h3>Launch {number}: {_text(launch['kind'])} {_text(launch['program'])}</h3>"
    origins = launch["origins"] or [None] * len(launch["argv"])
    words = [
        (origin["group"] if origin else None, word)
        for origin, word in zip(origins, launch["argv"], strict=True)
    ]
    lines = []
    for group, members in groupby(words, key=lambda pair: pair[0]):
        lines.append(f"<b>{_text(group or 'command line')}</b>")
        lines += [f"  {escape(printable(word))}" for _, word in members]
    yield f'<pre class="excerpt">{chr(10).join(lines)}</pre>'
    if launch["settings"]:
        rows = [
            (item["line"], item["key"], item["value"], item["group"] or "") for item in launch["settings"]
        ]
        yield f"<details><summary>{counted(len(rows), 'setting')}</summary>"
        yield _table(["line", "key", "value", "group"], rows)
        yield "</details>"
