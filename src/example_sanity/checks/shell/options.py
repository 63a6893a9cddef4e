"""What the family ``shell`` may be told: where it looks, which advice it gives as well, which commands need a guard."""

from __future__ import annotations

import msgspec

from example_sanity.core.errors import UsageError, did_you_mean
from example_sanity.core.regex import regex

_CONDITION = regex(r"(\w+)(!?=)([^=].*)")


class Gate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """A program that may run only behind a guard.

    ``command`` is its name. ``when`` are the conditions that an enclosing ``if``, ``case`` or ``&&`` must state, each
    ``NAME=value`` or ``NAME!=value``. ``never`` are gitignore-style patterns of scripts that must not call it at all.
    ``reason`` is printed.
    """

    command: str
    reason: str
    when: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse conditions that are none."""
        for text in self.when:
            if not _CONDITION.fullmatch(text):
                raise ValueError(f"when: {text!r} is no condition; write NAME=value or NAME!=value")

    @property
    def conditions(self) -> tuple[tuple[str, str, str], ...]:
        """The conditions as (name, operator, value)."""
        matches = (_CONDITION.fullmatch(text) for text in self.when)
        return tuple((match[1], match[2], match[3]) for match in matches if match)


class ShellOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.shell]``.

    ``roots`` are the folders whose shell scripts are judged. ``also`` are rules that are off unless they are named here
    or with ``select`` (``not-strict``, and shellcheck's advice such as ``SC2086``). ``forward-arguments`` are the folders
    whose launchers must hand their arguments on. ``environment`` are further variables that programs read, for the
    spelling check. ``gate`` are programs that need a guard.
    """

    roots: tuple[str, ...] = (".",)
    also: tuple[str, ...] = ()
    forward_arguments: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    gate: tuple[Gate, ...] = ()

    def check_also(self, known: frozenset[str]) -> None:
        """Raise UsageError for a word in ``also`` that is not among the codes and names of the family."""
        for word in self.also:
            if word not in known:
                raise UsageError(f"shell.also: unknown rule {word!r}{did_you_mean(word, known)}")
