"""Which of the paths and node ids of a call are for us."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest


class Argument(NamedTuple):
    """One argument of the call: an absolute path, and the name of an item behind ``::`` if there is one."""

    text: str
    path: Path
    item: str | None

    @property
    def is_test(self) -> bool:
        """Whether it names a Python file or something in one, which is pytest's own."""
        return self.path.suffix == ".py" and not self.path.is_dir()


class Choice(NamedTuple):
    """What an argument asks of us: the items of a file or a folder, relative to the project, or one kind of them."""

    path: str
    item: str | None

    def names(self, path: str, item: str) -> bool:
        """Return whether it asks for this item."""
        below = self.path in (".", path) or path.startswith(self.path + "/")
        return below and self.item in (None, item)


def given(config: pytest.Config) -> list[Argument]:
    """Return the arguments of the call; none where pytest fills in its ``testpaths`` or the folder."""
    if config.args_source is not config.ArgsSource.ARGS:
        return []
    return [_argument(text, config.invocation_params.dir) for text in config.args]


def _argument(text: str, folder: Path) -> Argument:
    path, _, item = text.partition("::")
    return Argument(text, folder / path, item or None)


def is_chosen(choices: Sequence[Choice], path: str, item: str) -> bool:
    """Return whether an item is asked for; without a choice every one is."""
    return not choices or any(choice.names(path, item) for choice in choices)
