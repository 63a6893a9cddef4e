"""Reads GitHub Actions: workflows under .github/workflows, and composite actions.

Source: GitHub Docs, "Workflow syntax for GitHub Actions" and "Metadata syntax for GitHub Actions".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from example_sanity.checks.workflows.matrix import combinations
from example_sanity.checks.workflows.model import Job, Listing, PathFilter, Step, Workflow
from example_sanity.checks.workflows.yamltree import Tree
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from example_sanity.core.finding import Span

_FILTERED = ("push", "pull_request", "pull_request_target")
# What GitHub calls for "shell: bash" and for no "shell" at all; only the first has pipefail.
_SHELLS = {"": "bash -e", "bash": "bash --noprofile --norc -eo pipefail", "sh": "sh -e"}
_READABLE = regex(r"(?:\S*/)?(?:ba|da|z)?sh(?:\s|$)")


def read(path: str, text: str) -> Workflow:
    """Return what a workflow or an action says. Raises Uninspectable (SYS001)."""
    return _Reader(path, text).read()


class _Reader:
    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text
        self._tree = Tree(text)

    def read(self) -> Workflow:
        tree, root = self._tree, self._tree.root
        if tree.get(root, "runs") is not None:
            steps = self._steps(tree.get(root, "runs"), "", None)
            action = Job("action", tree.span(root), steps)
            return Workflow(self._path, "github action", jobs=(action,), inputs=self._inputs(root))
        return Workflow(
            self._path,
            "github workflow",
            filters=tuple(self._filters()),
            jobs=tuple(self._jobs()),
            listings=tuple(self._listings()),
            environment=tree.strings(root, "env"),
            inputs={
                **self._inputs(tree.get(root, "on", "workflow_call")),
                **self._inputs(tree.get(root, "on", "workflow_dispatch")),
            },
        )

    def _inputs(self, node: Any) -> Mapping[str, str]:
        tree = self._tree
        found = {}
        for key, value in tree.pairs(tree.get(node, "inputs")):
            if tree.get(value, "default") is not None:
                found[str(key.value)] = tree.value(value, "default")
        return found

    def _filters(self) -> Iterator[PathFilter]:
        tree = self._tree
        for event in _FILTERED:
            for key in ("paths", "paths-ignore"):
                node = tree.get(tree.root, "on", event, key)
                items = tuple(tree.item(item) for item in tree.items(node) if item.id == "scalar")
                if items:
                    yield PathFilter(event, key == "paths-ignore", items)

    def _jobs(self) -> Iterator[Job]:
        tree = self._tree
        for key, node in tree.pairs(tree.get(tree.root, "jobs")):
            is_windows = "windows" in "".join(
                item.value for item in tree.items(tree.get(node, "runs-on")) if item.id == "scalar"
            )
            yield Job(
                name=str(key.value),
                span=tree.span(key),
                steps=self._steps(
                    node, "pwsh" if is_windows else "", self._default(node, "working-directory")
                ),
                environment=tree.strings(node, "env"),
                combinations=combinations(tree, tree.get(node, "strategy", "matrix")),
                calls=tree.text(node, "uses"),
                tolerant=self._tolerant(node, f"needs.{key.value}"),
            )

    def _default(self, job: Any, key: str) -> Any:
        tree = self._tree
        found = tree.get(job, "defaults", "run", key)
        return found if found is not None else tree.get(tree.root, "defaults", "run", key)

    def _tolerant(self, node: Any, name: str) -> Span | None:
        """Where it says that a failure does not count. An expression may say so on purpose, or a comment say why."""
        found = self._tree.get(node, "continue-on-error")
        if found is None or found.value != "true":
            return None
        span = self._tree.span(found)
        above, line = ("", *self._text.split("\n"))[span.line - 1 : span.line + 1]
        if "#" in line or above.lstrip().startswith("#"):
            return None
        asked = (
            re.search(rf"\b{re.escape(name)}\.(?:outcome|conclusion|result)\b", self._text) if name else None
        )
        return None if asked else span

    def _steps(self, node: Any, machine: str, folder: Any) -> tuple[Step, ...]:
        default = self._default(node, "shell")
        shell = str(default.value) if default is not None else machine
        steps = self._tree.items(self._tree.get(node, "steps"))
        return tuple(self._step(item, shell, folder) for item in steps if item.id == "mapping")

    def _step(self, node: Any, default: str, folder: Any) -> Step:
        tree = self._tree
        shell = tree.value(node, "shell") or default
        call = _SHELLS.get(shell, shell)
        own = tree.get(node, "working-directory")
        return Step(
            name=tree.value(node, "name") or tree.value(node, "id"),
            span=tree.span(node),
            run=tree.text(node, "run") if _READABLE.match(call) else None,
            shell=call,
            folder=tree.text(own if own is not None else folder),
            environment=tree.strings(node, "env"),
            uses=tree.text(node, "uses"),
            options=tree.strings(node, "with"),
            tolerant=self._tolerant(
                node, f"steps.{tree.value(node, 'id')}" if tree.value(node, "id") else ""
            ),
            condition=tree.value(node, "if"),
        )

    def _listings(self) -> Iterator[Listing]:
        """The columns of each matrix: all values that one name takes, wherever in the matrix they stand."""
        tree = self._tree
        for key, node in tree.pairs(tree.get(tree.root, "jobs")):
            columns: dict[str, list[Any]] = {}
            for name, scalar in _scalars(tree, "matrix", tree.get(node, "strategy", "matrix")):
                columns.setdefault(name, []).append(scalar)
            for name, nodes in columns.items():
                yield Listing(f"{name} of job {key.value}", tuple(tree.item(item) for item in nodes))


def _scalars(tree: Tree, name: str, node: Any) -> Iterator[tuple[str, Any]]:
    if node is None or name == "matrix.exclude":
        return
    if node.id == "mapping":
        for key, value in tree.pairs(node):
            inner = name if key.value == "include" else f"{name}.{key.value}"
            yield from _scalars(tree, inner, value)
    elif node.id == "sequence":
        for item in node.value:
            yield from _scalars(tree, name, item)
    else:
        yield name, node
