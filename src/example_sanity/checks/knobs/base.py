"""What the rules of the family share."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from example_sanity.checks.knobs.layout import Layout
from example_sanity.checks.knobs.options import KnobsOptions
from example_sanity.core.rule import Context, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from example_sanity.core.finding import Finding
    from example_sanity.launch.syntax import Script


class KnobRule(Rule):
    """A rule that looks at the layout of one script."""

    subject = Subject.SCRIPT

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Judge the shell scripts under the roots of the family."""
        return context.in_scope(path, context.options("knobs", KnobsOptions).roots)

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Lay the script out by the project's conventions, once for all rules, and judge it."""
        script = cast("Script", subject)
        layouts: dict[str, Layout] = context.cache.setdefault("knobs", {})
        layout = layouts.get(script.path)
        if layout is None:
            layout = layouts[script.path] = Layout(script, context.options("knobs", KnobsOptions))
        return self._judge(layout, context)

    def _judge(self, layout: Layout, context: Context) -> Iterable[Finding]:
        """Return what is wrong with a script."""
        raise NotImplementedError


def shown(text: str | None) -> str:
    """Return a value for a message: one line, at most 40 characters, "empty" for nothing."""
    line = " ".join((text or "").split())
    if not line:
        return "empty"
    return line if len(line) <= 40 else f"{line[:37]}..."
