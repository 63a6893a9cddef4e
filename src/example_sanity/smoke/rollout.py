"""Variables that keep the rollout engine of a smoke run from building kernels for minutes, where nobody says otherwise.

Source: vLLM 0.20, ``vllm/envs.py``; seen on one H200, where the MoE kernels of FlashInfer took more than eight minutes of sixteen nvcc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from example_sanity.smoke.plan import Change

if TYPE_CHECKING:
    from example_sanity.parallel.models import ModelFacts
    from example_sanity.smoke.outline import Outline
    from example_sanity.smoke.trial import Trial

_ENGINE = "actor_rollout_ref.rollout.name"
_MOE = "VLLM_USE_FLASHINFER_MOE_FP16"
_WHY = {
    "VLLM_USE_FLASHINFER_SAMPLER": "vLLM would build FlashInfer's sampler with nvcc at its first use",
    _MOE: "vLLM would build FlashInfer's MoE kernels with nvcc at its start, for many minutes; Triton's do as well",
}
# Variables that every process of a run needs, those of a cluster included.
EVERYWHERE = tuple(_WHY)


def changes(
    outline: Outline, shipped: Trial, facts: ModelFacts | None, host: Mapping[str, str]
) -> Iterator[Change]:
    """Yield the variables of a rollout with vLLM. What the launcher, or a runtime_env of Ray's in it, sets stays.

    ``shipped`` is the launcher as it is, ``facts`` are those of the model (None: not known), ``host`` is the environment of this
    process: what it says holds, on a cluster, too.
    """
    if outline.kind != "rl" or outline.text(_ENGINE) != "vllm":
        return
    own = shipped.entry.command.environment if shipped.entry else {}
    given = [item.key for item in outline.given]
    for name, why in _WHY.items():
        if name == _MOE and facts is not None and not facts.numbers.get("experts"):
            continue
        if name in own or any(key.endswith(f"env_vars.{name}") for key in given):
            continue
        said = host.get(name)
        reason = why if said is None else "as the environment of this process says"
        yield Change(name, "0" if said is None else said, None, reason, "environment")
