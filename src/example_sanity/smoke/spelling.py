"""How a setting is written behind the launcher's own: as a Hydra override, or as a flag."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from example_sanity.checks.overrides.defaults import defaults
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from example_sanity.core.runner import Run
    from example_sanity.launch.syntax import Script
    from example_sanity.schema.hydra.model import Leaf
    from example_sanity.smoke.trial import Trial

_PLAIN = regex(r"[\w./:+-]*|\[[\w,. ]*\]")


class Spelling:
    """The spelling of one program, as its launch shows it."""

    def __init__(self, run: Run, script: Script, trial: Trial) -> None:
        self._run, self._script, self._trial = run, script, trial
        self.hydra = any(item.style == "hydra" for item in trial.given)

    @cached_property
    def _known(self) -> Mapping[str, Leaf]:
        assert self._trial.entry is not None
        return defaults(self._trial.entry, self._script, self._run)

    @property
    def unset(self) -> str:
        """The value of a setting that shall have none."""
        return "null" if self.hydra else ""

    def knows(self, name: str) -> bool:
        """Whether a plain word may be a setting of the program."""
        return self.hydra and (name in self._known or self._trial.text(name) is not None)

    def words(self, key: str, value: str) -> tuple[str, ...]:
        """Return the words that set ``key`` where the launcher may have set it already; none where the program has no such key."""
        if not self.hydra:
            return (f"--{key}", value) if value else ()
        if self._known and key not in self._known and self._trial.text(key) is None:
            return ()
        shown = value if _PLAIN.fullmatch(value) else "'" + value.replace("'", "\\'") + "'"
        return (f"{key}={shown}",)

    def chosen(self, name: str, value: str) -> tuple[str, ...]:
        """Return the words for a setting as the user spells it."""
        if name.startswith("-"):
            return (name, value) if value else (name,)
        return (f"{name}={value}",) if self.hydra else (f"--{name}", value)
