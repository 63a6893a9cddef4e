"""What the families ``mesh`` and ``batch`` may be told: the numbers of models that no table ships."""

from __future__ import annotations

from typing import Annotated

import msgspec

from example_sanity.parallel.models import Models

Count = Annotated[int, msgspec.Meta(ge=0)]


class ModelSizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.mesh.models.NAME]``: the numbers of one model; what is left out is not known.

    ``layers`` are the decoder layers, ``heads`` and ``kv`` the attention and key/value heads (query groups), ``experts``
    the routed ones (0: dense), ``topk`` those of a token, ``mtp`` the layers that predict further tokens, ``hidden`` the
    width, ``positions`` the longest sequence. ``linear-k`` and ``linear-v`` are the heads of gated delta nets, ``ffn`` and
    ``moe-ffn`` the widths of feed-forward layers and experts, ``rope`` the base of rotary embeddings. ``tied`` says that
    the input embedding is the output layer, too; ``mla``, ``gdn``, ``dsa`` and ``dsv4`` that the model has multi-latent
    attention, gated delta nets, DeepSeek's sparse attention or the DeepSeek-V4 block.
    """

    layers: Count | None = None
    heads: Count | None = None
    kv: Count | None = None
    experts: Count | None = None
    topk: Count | None = None
    mtp: Count | None = None
    hidden: Count | None = None
    positions: Count | None = None
    linear_k: Count | None = None
    linear_v: Count | None = None
    ffn: Count | None = None
    moe_ffn: Count | None = None
    rope: Count | None = None
    tied: bool | None = None
    mla: bool = False
    gdn: bool = False
    dsa: bool = False
    dsv4: bool = False

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers that are known, by the symbols of formulas."""
        return {name: int(value) for name, value in msgspec.structs.asdict(self).items() if value is not None}


class MeshOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.mesh]``: models by the last part of their hub id or folder; they win over the shipped table.

    What a backend enforces is no matter of taste, so there is nothing to choose there.
    """

    models: dict[str, ModelSizes] = {}

    @property
    def known_models(self) -> Models:
        """The shipped table and the models of the configuration."""
        return Models({name: sizes.numbers for name, sizes in self.models.items()})
