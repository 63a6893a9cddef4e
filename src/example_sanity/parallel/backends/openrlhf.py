"""OpenRLHF: ``--actor.num_gpus_per_node`` and friends, and the batch chain of its DeepSpeed trainers.

Source of the rules: OpenRLHF ``openrlhf/cli/train_ppo_ray.py`` and ``openrlhf/utils/deepspeed/deepspeed.py``. Where a flag
has two names the second is that of older releases.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.constraint import Split, claims, divides
from example_sanity.parallel.keys import Key, Settings, switch
from example_sanity.parallel.mesh import Backend

DENSE = Split("dp", ("tp", "ring"), ("tp", "ring", "dp"))
_DEEPSPEED = "openrlhf/utils/deepspeed/deepspeed.py"
KEYS = (
    Key("tp", ("ds.tensor_parallel_size", "ds_tensor_parallel_size"), 1),
    Key("ring", ("ds.ring_attn_size", "ring_attn_size"), 1),
)
BATCH = (
    Key("gbs", ("train.batch_size", "train_batch_size"), 128),
    Key("mbs", ("train.micro_batch_size", "micro_train_batch_size"), 1),
    Key("dynamic", ("train.dynamic_batch_enable", "use_dynamic_batch"), 0, switch),
)
RANKS = (replace(divides(DENSE, "OR-04", "MSH001", "", f"{_DEEPSPEED}:104"), effect="hang"),)
ACCUMULATION = claims(
    """
    OR-05a BAT004 S step1 | openrlhf/utils/deepspeed/deepspeed.py:110
    dynamic = 0 => gbs >= mbs·dp
    train batch {gbs} is less than one micro batch of {mbs} for each of dp{dp} ranks, so there are 0 accumulation steps
    adjust: gbs

    OR-05b BAT008 S step1 | openrlhf/utils/deepspeed/deepspeed.py:110
    dynamic = 0 and gbs >= mbs·dp => gbs % (mbs·dp) = 0
    train batch {gbs} is no whole number of micro batches of {mbs} on dp{dp} ({gbs % (mbs·dp)} left over)
    adjust: gbs
    """
)
RL = (
    Key("colocated", ("train.colocate_all", "colocate_all_models"), 0, switch),
    Key("async_on", ("train.async_enable", "async_train"), 0, switch),
    Key("engines", ("vllm.num_engines", "vllm_num_engines"), 0),
    Key("rtp", ("vllm.tensor_parallel_size", "vllm_tensor_parallel_size"), 1),
    Key("prompts", ("rollout.batch_size", "rollout_batch_size"), 1024),
    Key("rollout_mbs", ("rollout.micro_batch_size", "micro_rollout_batch_size"), 1),
    Key("n", ("rollout.n_samples_per_prompt", "n_samples_per_prompt"), 1),
    Key("with_ref", ("train.colocate_actor_ref", "colocate_actor_ref"), 0, switch),
    Key("ref_nodes", ("ref.num_nodes", "ref_num_nodes"), 1),
    Key("ref_gpn", ("ref.num_gpus_per_node", "ref_num_gpus_per_node"), 8),
)
RL_RULES = claims(
    """
    OR-01 MSH006 A cfg | openrlhf/cli/train_ppo_ray.py:57
    colocated > 0 and async_on = 0 and engines > 0 => world = engines·rtp
    {world} actor GPUs, but {engines} vLLM engines of tp{rtp} take {engines·rtp}
    adjust: engines rtp

    OR-02 MSH006 A cfg | openrlhf/cli/train_ppo_ray.py:43,110
    kl > 0 and colocated + with_ref > 0 => nnodes = ref_nodes and gpn = ref_gpn
    the actor has {nnodes}·{gpn} GPUs and the reference model {ref_nodes}·{ref_gpn}, but they share them
    adjust: ref_gpn ref_nodes

    OR-03 BAT004 A cfg | openrlhf/cli/train_ppo_ray.py:711
    prompts·n // rollout_mbs >= dp
    {prompts}·{n} samples in micro batches of {rollout_mbs} leave some of dp{dp} ranks without one
    adjust: prompts
    """
)
# The reference model exists where the KL coefficient is not 0; 0.01 is the default.
_KL = Key("kl", ("algo.kl.init_coef", "init_kl_coef"), 1, lambda value: int(str(value).strip("0.") != ""))
_ACTOR = ("actor.num_nodes", "actor_num_nodes"), ("actor.num_gpus_per_node", "actor_num_gpus_per_node")


def rl(settings: Settings, program: str | None) -> bool:
    """Return whether a launch runs OpenRLHF's PPO on Ray."""
    return "openrlhf" in (program or "") and "train_ppo" in (program or "")


def supervised(settings: Settings, program: str | None) -> bool:
    """Return whether a launch runs one of OpenRLHF's other trainers, under the DeepSpeed launcher."""
    return "openrlhf.cli.train_" in (program or "") and "train_ppo" not in (program or "")


BACKENDS = (
    Backend(
        name="openrlhf",
        title="OpenRLHF",
        role="actor",
        keys=KEYS,
        world=(Key("nnodes", _ACTOR[0], 1), Key("gpn", _ACTOR[1], 8)),
        splits=(DENSE,),
        constraints=(*RL_RULES, *RANKS, *ACCUMULATION),
        applies=rl,
        facts=(*BATCH, *RL, _KL),
        lets=(("needed", "world if colocated > 0 else world + engines·rtp"),),
        models=("actor.model_name_or_path", "pretrain"),
    ),
    Backend(
        name="openrlhf_sft",
        title="OpenRLHF (SFT, DPO, reward model)",
        role="sft",
        keys=KEYS,
        world=(),
        splits=(DENSE,),
        constraints=(*RANKS, *ACCUMULATION),
        applies=supervised,
        facts=BATCH,
    ),
)
