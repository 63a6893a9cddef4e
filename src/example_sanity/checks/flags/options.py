"""What the family ``flags`` may be told: where the packages are that launchers use."""

from __future__ import annotations

import msgspec


class FlagsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.flags]``.

    ``source-roots`` are folders, absolute or relative to the project, in which packages lie that the programs import
    (a checkout of Megatron-LM beside slime, say). They are read, never imported. ``owned-prefixes`` are starts of flags
    (``--sglang-``) that belong to a package whose source is not there; flags that start so are not judged.
    """

    source_roots: tuple[str, ...] = ()
    owned_prefixes: tuple[str, ...] = ()
