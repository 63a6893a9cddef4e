"""SkyRL: ``trainer.placement.policy_num_gpus_per_node`` and friends, on FSDP or on Megatron-Core.

Source of the rules: SkyRL ``skyrl/train/utils/utils.py`` (its configuration checks) and ``skyrl/backends/skyrl_train``;
what the ranks of Megatron-Core ask comes on top. Where a key has two names the second is that of older releases.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.backends.megatron_core import (
    EVEN_STAGES,
    EXPERT_RANKS,
    EXPERTS,
    HEADS,
    SPLITS,
    UNEVEN_STAGES,
)
from example_sanity.parallel.constraint import Split, claims, divides
from example_sanity.parallel.keys import Key, Settings, one_of, present, switch
from example_sanity.parallel.mesh import Backend

_ENGINE = "generator.inference_engine"
_MEGATRON, _REF = "trainer.policy.megatron_config", "trainer.ref.megatron_config"
WORLD = (
    Key("nnodes", ("trainer.placement.policy_num_nodes",), 1),
    Key("gpn", ("trainer.placement.policy_num_gpus_per_node",), 1),
)
ULYSSES = Split("dp", ("sp",), ("sp", "dp"))


def _engine(symbol: str, name: str) -> Key:
    old = f"generator.inference_engine_{name}" if name != "num_engines" else "generator.num_inference_engines"
    return Key(symbol, (f"{_ENGINE}.{name}", old), 1)


FACTS = (
    _engine("engines", "num_engines"),
    _engine("rtp", "tensor_parallel_size"),
    _engine("rpp", "pipeline_parallel_size"),
    _engine("rdp", "data_parallel_size"),
    _engine("rep", "expert_parallel_size"),
    Key("colocated", ("trainer.placement.colocate_all",), 1, switch),
    Key("mp", (f"{_ENGINE}.distributed_executor_backend",), 0, one_of("mp")),
    Key("b", ("trainer.train_batch_size",), 1024),
    Key("m", ("trainer.policy_mini_batch_size",), 256),
    Key("n", ("generator.n_samples_per_prompt",), 5),
    Key("mbs", ("trainer.micro_train_batch_size_per_gpu",), 1),
    Key("fsdp_size", ("trainer.policy.fsdp_config.fsdp_size",), -1),
    Key("critic", ("trainer.critic.model.path",), 0, present),
    Key("kl_loss", ("trainer.algorithm.use_kl_loss",), 1, switch),
    Key("kl_reward", ("trainer.algorithm.use_kl_in_reward",), 0, switch),
    Key("ref_nodes", ("trainer.placement.ref_num_nodes",), 1),
    Key("ref_gpn", ("trainer.placement.ref_num_gpus_per_node",), 1),
    Key("critic_nodes", ("trainer.placement.critic_num_nodes",), 1),
    Key("critic_gpn", ("trainer.placement.critic_num_gpus_per_node",), 1),
    Key("critic_sp", ("trainer.critic.sequence_parallel_size",), 1),
    Key("ref_sp", ("trainer.ref.sequence_parallel_size",), 1),
    Key("ref_tp", (f"{_REF}.tensor_model_parallel_size",), 1),
    Key("ref_pp", (f"{_REF}.pipeline_model_parallel_size",), 1),
    Key("ref_cp", (f"{_REF}.context_parallel_size",), 1),
    Key("ulysses", ("trainer.policy.sequence_parallel_size",), 1),
)
# The sizes of the other strategy are 1, so one formula serves both.
LETS = (
    ("ref_dp", "ref_nodes·ref_gpn // (ref_sp·ref_tp·ref_pp·ref_cp)"),
    ("critic_dp", "critic_nodes·critic_gpn // critic_sp"),
    ("shared_dp", "lcm(dp, ref_dp if kl_loss + kl_reward > 0 else 1, critic_dp if critic > 0 else 1)"),
    ("stride", "shared_dp // gcd(shared_dp, n)"),
    ("rank_m", "m·n // dp"),
    ("rank_b", "b·n // dp"),
    ("engine_gpus", "engines·rtp·rpp·rdp"),
    ("needed", "world if colocated > 0 else world + engine_gpus"),
)
RULES = claims(
    """
    SK-03a BAT009 A cfg | skyrl/train/utils/utils.py:74-83
    b >= m
    train batch {b} is smaller than the mini batch {m}
    adjust: m b

    SK-03b BAT009 A cfg | skyrl/train/utils/utils.py:101
    b >= m => b % m = 0
    train batch {b} does not divide into mini batches of {m} ({b % m} left over)
    adjust: m b

    SK-04a BAT001 A cfg | skyrl/train/utils/utils.py:108-116
    rank_m > 0
    {m}·{n} = {m·n} samples of a mini batch leave none for each of dp{dp} ranks
    adjust: m

    SK-04b BAT002 A cfg | skyrl/train/utils/utils.py:117-126
    rank_m > 0 => rank_m % mbs = 0
    {rank_m} samples of a rank do not divide into micro batches of {mbs} ({rank_m % mbs} left over)
    adjust: mbs

    SK-05 BAT001 A cfg | skyrl/train/utils/utils.py:127-137
    rank_m > 0 and b % m = 0 => rank_b % rank_m = 0
    {b}·{n} // dp{dp} = {rank_b} samples of a rank do not divide into mini batches of {m}·{n} // {dp} = {rank_m}
    adjust: m

    SK-06 BAT007 A cfg | skyrl/train/utils/utils.py:156-190
    kl_loss + kl_reward > 0 and rank_m > 0 => b·n >= lcm(dp, ref_dp)
    {b}·{n} = {b·n} samples of a step are fewer than {lcm(dp, ref_dp)}, which dp{dp} and the reference's dp{ref_dp} share
    adjust: b

    SK-13 MSH010 A cfg | skyrl/train/trainer.py:676-678
    colocated > 0 and kl_loss + kl_reward > 0 => ref_nodes·ref_gpn = world
    {world} policy GPUs, but the reference policy has {ref_nodes}·{ref_gpn} = {ref_nodes·ref_gpn} of those that they share
    adjust: ref_gpn@gpn ref_nodes@nnodes

    SK-15a BAT004 S step1 | skyrl/train/trainer.py:622-643
    rank_m > 0 and b·n >= lcm(dp, ref_dp) => b >= stride
    of the {b} prompts of a step a multiple of {stride} is kept, so that samples divide among dp: none
    adjust: b

    SK-15b BAT007 wasteful step1 | skyrl/train/trainer.py:622-643
    b >= stride and b % m = 0 => b % stride = 0
    of the {b} prompts of a step a multiple of {stride} is kept, so that samples divide among dp: {b % stride} are dropped
    adjust: b

    SK-09 MSH006 A cfg | skyrl/train/utils/utils.py:456-465
    colocated > 0 => world = engine_gpus
    {world} policy GPUs, but {engines} engines of tp{rtp}·pp{rpp}·dp{rdp} take {engine_gpus}
    adjust: engines rtp

    SK-10 MSH006 A cfg | skyrl/train/utils/utils.py:552-558
    rep > 1 => rdp·rtp = rep
    inference ep{rep} must be dp{rdp}·tp{rtp} = {rdp·rtp}
    adjust: rep

    SK-11 MSH006 V cfg | skyrl/train/utils/utils.py:572-582
    colocated > 0 and mp > 0 => rtp·rpp <= gpn
    an engine of tp{rtp}·pp{rpp} = {rtp·rpp} GPUs with the mp executor does not fit a node of {gpn}
    """
)
_IN_DRIVER = replace(
    divides(SPLITS[0], "SK-01", "MSH001", "AssertionError", "skyrl/train/utils/utils.py:88-97"),
    effect="assertion",
    stage="cfg",
)
MEGATRON_RULES = claims(
    """
    SK-07a MSH009 A cfg | skyrl/train/utils/utils.py:194-229
    critic = 0
    SkyRL trains no critic on Megatron

    SK-07b MSH009 A cfg | skyrl/train/utils/utils.py:194-229
    ulysses = 1
    SkyRL has no Ulysses on Megatron, but trainer.policy.sequence_parallel_size = {ulysses}
    adjust: ulysses
    """
)
FSDP_RULES = (
    replace(divides(ULYSSES, "SK-02", "MSH001", "", "skyrl/train/utils/utils.py:98-99"), effect="hang"),
    *claims(
        """
        SK-12 MSH001 H init | skyrl/backends/skyrl_train/distributed/fsdp_utils.py:254-260
        fsdp_size > 0 and fsdp_size < world => world % fsdp_size = 0
        {world} GPUs do not divide into shards of fsdp_size {fsdp_size} ({world % fsdp_size} left over)
        adjust: fsdp_size

        SK-14 MSH010 A cfg | skyrl/train/trainer.py:700-702
        colocated > 0 and critic > 0 => critic_nodes·critic_gpn = world
        {world} policy GPUs, but the critic has {critic_nodes}·{critic_gpn} = {critic_nodes·critic_gpn} of those that they share
        adjust: critic_gpn@gpn critic_nodes@nnodes
        """
    ),
)
_MEGATRON_FACTS = (
    Key("first", (f"{_MEGATRON}.transformer_config_kwargs.num_layers_in_first_pipeline_stage",), 0),
    Key("last", (f"{_MEGATRON}.transformer_config_kwargs.num_layers_in_last_pipeline_stage",), 0),
    Key("emb", (), 0),
    Key("loss", (), 0),
    Key("layout", (f"{_MEGATRON}.transformer_config_kwargs.pipeline_model_parallel_layout",), 0, present),
)


def applies(settings: Settings, program: str | None) -> bool:
    """Return whether a launch runs SkyRL's trainer; its inference server takes the same settings and places no policy."""
    serves = (program or "").rpartition(".")[2] == "serve"
    return not serves and any(key.startswith("trainer.placement.") for key in settings)


def _on(strategies: set[str], settings: Settings, program: str | None) -> bool:
    stated = settings.get("trainer.strategy", "fsdp")
    return applies(settings, program) and stated in strategies


BACKENDS = (
    Backend(
        name="skyrl_fsdp",
        title="SkyRL on FSDP",
        role="policy",
        keys=(Key("sp", ("trainer.policy.sequence_parallel_size",), 1),),
        world=WORLD,
        splits=(ULYSSES,),
        constraints=(*FSDP_RULES, *RULES),
        applies=lambda settings, program: _on({"fsdp", "fsdp2"}, settings, program),
        facts=FACTS,
        lets=LETS,
        models=("trainer.policy.model.path",),
    ),
    Backend(
        name="skyrl_megatron",
        title="SkyRL on Megatron-Core",
        role="policy",
        keys=(
            Key("tp", (f"{_MEGATRON}.tensor_model_parallel_size",), 1),
            Key("pp", (f"{_MEGATRON}.pipeline_model_parallel_size",), 1),
            Key("cp", (f"{_MEGATRON}.context_parallel_size",), 1),
            Key("ep", (f"{_MEGATRON}.expert_model_parallel_size",), 1),
            Key("etp", (f"{_MEGATRON}.expert_tensor_parallel_size",), "tp"),
        ),
        world=WORLD,
        splits=SPLITS,
        constraints=(
            _IN_DRIVER,
            *MEGATRON_RULES,
            *RULES,
            EXPERT_RANKS,
            *HEADS,
            *EXPERTS,
            *UNEVEN_STAGES,
            *EVEN_STAGES,
        ),
        applies=lambda settings, program: _on({"megatron"}, settings, program),
        facts=(*FACTS, *_MEGATRON_FACTS),
        lets=(*LETS, ("groups", "kv"), ("chunks", "1")),
        models=("trainer.policy.model.path",),
    ),
)
