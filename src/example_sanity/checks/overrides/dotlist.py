"""Judges ``key=value`` words that OmegaConf lays over a dataclass, without Hydra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.overrides.issues import Issue
from example_sanity.checks.overrides.meaning import nearest_key
from example_sanity.checks.overrides.values import judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.launch.settings import Setting
    from example_sanity.schema.argparse.dotlist import Dotlist

_SIGNS = {"add": "+", "force": "++", "delete": "~"}


def check(known: Dotlist, settings: Iterable[Setting]) -> Iterator[Issue]:
    """Yield what OmegaConf refuses."""
    for item in settings:
        if item.style != "hydra" or item.key.partition(".")[0] in known.own:
            continue
        sign = _SIGNS.get(item.operation)
        if sign:
            message = f"OmegaConf.from_cli() takes {sign}{item.key} as it stands: only Hydra knows the sign; drop it"
            yield Issue("OVR018", item, message, replace=(f"{sign}{item.key}", item.key), safe=False)
        elif item.key in known.keys:
            yield from judge(item, known.keys[item.key])
        elif not _is_inside(item.key, known):
            near = nearest_key(item.key, known.keys)
            hint = f"; did you mean {near}?" if near else ""
            message = f"{item.key} is no field of {known.name}, and OmegaConf refuses it{hint}"
            replace = (f"{item.key}=", f"{near}=") if near else None
            yield Issue("OVR001", item, message, replace=replace, safe=False)


def _is_inside(key: str, known: Dotlist) -> bool:
    """Whether a key lies in a field of which the inside is not known."""
    parts = key.split(".")
    return any(".".join(parts[:count]) in known.open for count in range(1, len(parts)))
