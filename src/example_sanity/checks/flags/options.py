"""What the family ``flags`` may be told: which flags belong to others."""

from __future__ import annotations

import msgspec


class FlagsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.flags]``.

    ``owned-prefixes`` are starts of flags (``--sglang-``) that belong to a package whose source is not there; flags that start so are not judged.
    """

    owned_prefixes: tuple[str, ...] = ()
