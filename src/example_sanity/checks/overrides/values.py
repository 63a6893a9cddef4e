"""Judges the value of an override: its type, its choices, placeholders, and quotes that make text of a list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.checks.overrides.issues import Issue
from example_sanity.core.errors import did_you_mean
from example_sanity.core.finding import Severity
from example_sanity.core.regex import regex
from example_sanity.launch.hydra_functions import Sweep
from example_sanity.schema.hydra.flatten import kinds_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.launch.settings import Setting
    from example_sanity.schema.hydra.model import Leaf

PLACEHOLDER = regex(
    r"<[A-Za-z][\w /.:-]*>|(?:^|/)path/to(?:/|$)|(?:^|/)your[_-](?:path|model|data)\w*", re.IGNORECASE
)
_NUMBERS = {"int", "float"}
_NAMES = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "list": "a list",
    "dict": "a group of settings",
    "null": "null",
}


def judge(setting: Setting, leaf: Leaf) -> Iterator[Issue]:
    """Yield what is wrong with the value; what depends on a placeholder is not judged."""
    value = setting.value
    if not setting.stable or isinstance(value, Sweep) or (isinstance(value, str) and "${" in value):
        return
    if _is_quoted_list(value) and "list" in leaf.kinds and "str" not in leaf.kinds:
        message = (
            f"{setting.key}={setting.raw} reaches Hydra as text, not as a list: the quotes are part of the value; "
            f"the default is {_shown(leaf.value)}"
        )
        yield Issue("OVR014", setting, message, Severity.WARNING)
    elif not _fits(value, leaf):
        takes = " or ".join(_NAMES.get(kind, kind) for kind in leaf.kinds)
        message = f"{setting.key} takes {takes}, not {_described(value)}{_place(leaf)}"
        yield Issue("OVR004", setting, message, None if leaf.declared else Severity.WARNING)
    elif any(value == item for item in leaf.refused):
        yield Issue("OVR005", setting, f"{setting.key} may not be {_shown(value)}: the program refuses it")
    elif leaf.choices and not _chosen(value, leaf):
        listed = ", ".join(map(_shown, leaf.choices))
        nearby = (
            did_you_mean(value, [item for item in leaf.choices if isinstance(item, str)])
            if isinstance(value, str)
            else ""
        )
        yield Issue("OVR005", setting, f"{setting.key} must be one of {listed}, not {_shown(value)}{nearby}")


def placeholder(setting: Setting) -> str | None:
    """Return the placeholder that was left in a value, if any."""
    found = PLACEHOLDER.search(setting.raw) if setting.stable else None
    return found[0] if found else None


def _is_quoted_list(value: object) -> bool:
    return isinstance(value, str) and value.startswith("[") and value.endswith("]")


def _fits(value: object, leaf: Leaf) -> bool:
    kinds = set(leaf.kinds)
    (kind,) = kinds_of(value) or ("null",)
    if not kinds or kind in kinds or kind == "null":
        return True
    if kinds <= {"dict", "null"}:
        return False
    if kind in _NUMBERS:
        # OmegaConf and Python take one for the other; text may look like a number.
        return bool(kinds & (_NUMBERS | {"str"})) or ("bool" in kinds and value in (0, 1))
    if leaf.declared:
        return kind == "bool" and "str" in kinds
    return _may_be_meant(kind, kinds)


def _may_be_meant(kind: str, kinds: set[str]) -> bool:
    """Whether a default in YAML, which declares nothing, leaves room for a value of another kind."""
    if kind == "dict":
        return True
    if kind == "str":
        # save_freq=after_each_epoch: only a class could say that no word may stand for a number.
        return "bool" not in kinds
    # One data file or several, one logger or several.
    return "str" in kinds


def _chosen(value: object, leaf: Leaf) -> bool:
    return value is None or any(value == item for item in leaf.choices)


def _described(value: object) -> str:
    if value == "":
        return "an empty value"
    (kind,) = kinds_of(value) or ("null",)
    names = {"str": "the text", "list": "the list", "dict": "the group", "bool": "the truth value"}
    return f"{names.get(kind, 'the number')} {_shown(value)}"


def _place(leaf: Leaf) -> str:
    default = f"default {_shown(leaf.value)}" if not isinstance(leaf.value, dict) else ""
    parts = [default, leaf.where]
    text = ", ".join(part for part in parts if part)
    return f" ({text})" if text else ""


def _shown(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
