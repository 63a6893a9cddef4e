"""What verl asks of every PPO launch, whatever its engine: the rollout's sizes, the batch chain, the token budget.

Source of the rules: verl ``utils/config.py`` (validate_config), ``workers/engine_workers.py``, ``workers/config/actor.py``
and ``rollout.py``, ``workers/rollout/replica.py``, ``utils/seqlen_balancing.py``.

Symbols: ``b`` are the prompts of a step, ``m`` those of a mini batch, ``n`` the responses of each; ``w`` the GPUs of one
rollout replica; ``reach`` the ranks that share a sequence, which each engine says for itself; ``apart`` is not 0 where
the rollout has GPUs of its own.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.backends import verl_options
from example_sanity.parallel.constraint import Constraint, claims
from example_sanity.parallel.keys import PROGRAM, Key, one_of, switch
from example_sanity.parallel.mesh import Backend

_ROLLOUT = "actor_rollout_ref.rollout"


def _asynchronous(value: object) -> int:
    return int(isinstance(value, str) and ("async" in value or "one_step_off" in value))


def rollout() -> tuple[Key, ...]:
    """Return the keys of the rollout and of the trainer's mode."""
    return (
        Key("rtp", (f"{_ROLLOUT}.tensor_model_parallel_size",), 2),
        Key("rdp", (f"{_ROLLOUT}.data_parallel_size",), 1),
        Key("rpp", (f"{_ROLLOUT}.pipeline_model_parallel_size",), 1),
        Key("rep", (f"{_ROLLOUT}.expert_parallel_size",), 1),
        Key("moe_tp", (f"{_ROLLOUT}.moe_tensor_parallel_size",), 1),
        Key("vllm", (f"{_ROLLOUT}.name",), None, one_of("vllm")),
        Key("trtllm", (f"{_ROLLOUT}.name",), None, one_of("trtllm")),
        Key("own_nodes", (f"{_ROLLOUT}.nnodes", "rollout.nnodes"), 0),
        Key("other_program", (PROGRAM,), 0, _asynchronous),
        Key("other_config", ("config-name",), 0, _asynchronous),
        Key("other_mode", ("trainer.v1.trainer_mode",), 0, one_of("separate_async")),
        Key("v_one", ("trainer.use_v1",), 1, switch),
        Key("sync_step", ("trainer.v1.separate_async.parameter_sync_step",), 4),
        Key("max_len", (f"{_ROLLOUT}.max_model_len",)),
    )


def batch(role: str) -> tuple[Key, ...]:
    """Return the keys of the batch chain of a role (actor or critic), its settings prefix."""
    actor = "actor_rollout_ref.actor"

    def own(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((f"{role}.{name}", f"{actor}.{name}")))

    return (
        Key("b", ("data.train_batch_size",), 1024),
        Key("n", (f"{_ROLLOUT}.n",), 1),
        Key("m", own("ppo_mini_batch_size"), 256),
        Key("mbs", (f"{role}.ppo_micro_batch_size_per_gpu",)),
        Key("old_mbs", (f"{role}.ppo_micro_batch_size",)),
        Key("dynamic", own("use_dynamic_bsz"), 0, switch),
        Key("tokens", (f"{role}.ppo_max_token_len_per_gpu",), 16384 if role == actor else 32768),
        Key("prompt", ("data.max_prompt_length",), 512),
        Key("response", ("data.max_response_length",), 512),
    )


LETS = (
    ("w", "rtp·rdp·rpp"),
    ("apart", "own_nodes + other_program + other_config + other_mode"),
)

ROLLOUT = claims(
    """
    VR-01 MSH006 A cfg | workers/config/rollout.py:292
    trtllm = 0 and rep > 1 => rep = rtp·rdp
    rollout ep{rep} must be tp{rtp}·dp{rdp} = {rtp·rdp}
    adjust: rep

    VR-02 MSH006 N cfg | workers/config/rollout.py:317-320
    rpp = 1
    the rollout has pp{rpp}, but no rollout engine of verl runs pipeline parallel
    adjust: rpp

    VR-03a MSH006 A cfg | workers/config/rollout.py:296-297
    moe_tp > 1 => trtllm > 0
    moe_tensor_parallel_size = {moe_tp} is for trtllm only
    adjust: moe_tp

    VR-03b MSH006 A cfg | workers/config/rollout.py:308-314
    trtllm > 0 and moe_tp > 1 and rep > 1 => moe_tp·rep = rtp
    rollout moe_tp{moe_tp}·ep{rep} = {moe_tp·rep} must be tp{rtp}
    adjust: rep moe_tp

    VC-11 MSH006 A init | workers/engine_workers.py:654-660
    apart = 0 => world % w = 0
    a world of {world} does not divide into rollout replicas of tp{rtp}·dp{rdp}·pp{rpp} = {w} ({world % w} left over)
    adjust: rtp

    VR-04 MSH006 A init | workers/rollout/replica.py:107-116
    apart = 0 and world % w = 0 => w % min(gpn, w) = 0
    a rollout replica of {w} GPUs does not fill nodes of {gpn} ({w % gpn} left over)
    adjust: rtp

    VR-06 MSH006 S init | workers/rollout/vllm_rollout/vllm_async_server.py:1185-1191
    apart = 0 and nnodes > 1 and w < gpn and world % w = 0 => gpn % w = 0
    rollout replicas of {w} GPUs do not divide a node of {gpn}, so one lies across two nodes
    adjust: rtp

    VR-07 MSH006 A init | workers/rollout/vllm_rollout/vllm_async_server.py:361-369
    vllm > 0 and rdp > 1 => min(gpn, w) % rtp = 0
    {min(gpn, w)} GPUs of a replica on a node do not divide into tp{rtp}
    adjust: rtp

    VL-01 MSH008 V init | vllm/config/model.py:1212
    vllm > 0 => heads % rtp = 0
    {heads} attention heads do not divide among rollout tp{rtp} ({heads % rtp} left over)
    adjust: rtp

    VL-02 MSH008 A init | vllm/model_executor/models/qwen3_moe.py:274-284
    vllm > 0 and mla = 0 and heads % rtp = 0 => kv % rtp = 0 or rtp % kv = 0
    {kv} KV heads and rollout tp{rtp}: neither divides the other
    adjust: rtp

    VR-08 MSH009 V init | workers/rollout/vllm_rollout/vllm_async_server.py:998
    max_len <= positions
    max_model_len = {max_len}, but the model has {positions} positions
    adjust: max_len

    VR-09 MSH011 slow init | workers/rollout/replica.py
    apart = 0 and nnodes > 1 => rtp <= gpn
    tensor parallel groups of the rollout (tp{rtp}) span nodes of {gpn} GPUs
    adjust: rtp
    """
)
BATCH = claims(
    """
    VC-07 BAT009 V cfg | workers/config/actor.py:224-230
    dynamic = 0 and b > 0 => b >= m
    train batch {b} is smaller than the mini batch {m}
    adjust: m b

    VC-08 BAT002 V cfg | workers/config/actor.py:232-238
    dynamic = 0 => m % old_mbs = 0
    mini batch {m} does not divide into micro batches of {old_mbs} ({m % old_mbs} left over)
    adjust: old_mbs

    VC-12 BAT001 A step1 | workers/engine_workers.py:266
    m·n % dp = 0
    {m}·{n} = {m·n} samples of an update do not divide among dp{dp} ({m·n % dp} left over)
    adjust: m

    VC-13 BAT002 A step1 | workers/engine/utils.py:92-130
    dynamic = 0 and m·n % dp = 0 => m·n // dp % mbs = 0
    {m·n // dp} samples of a rank do not divide into micro batches of {mbs} ({m·n // dp % mbs} left over)
    adjust: mbs

    VC-14 BAT005 A step1 | utils/seqlen_balancing.py:384
    dynamic > 0 => tokens·reach >= prompt + response
    {tokens}·{reach} = {tokens·reach} tokens of a micro batch are fewer than those of one sequence,
      {prompt} + {response} = {prompt + response}
    adjust: tokens@ceil(prompt+response,reach)
    """
)
STRATEGY_BATCH = claims(
    """
    VC-03 BAT003 A cfg | utils/config.py:105-113
    dynamic = 0 and apart = 0 => b·n % world = 0
    {b}·{n} = {b·n} samples of a step do not divide among {world} GPUs ({b·n % world} left over)
    adjust: b
    """
)
ACTOR = claims(
    """
    VC-16 BAT006 wasteful step1 | trainer/ppo/v1/trainer_base.py:1484-1516
    apart = 0 and v_one > 0 and b >= m => b % m = 0
    train batch {b} is no multiple of the mini batch {m}: the last update is filled with {m - b % m} empty prompts
    adjust: b

    VC-18 BAT003 A cfg | trainer/ppo/v1/trainer_separate_async.py:54
    other_mode > 0 => b = sync_step·m
    train batch {b} must be parameter_sync_step {sync_step} · mini batch {m} = {sync_step·m}
    adjust: b
    """
)


def trained(backend: Backend, role: str, reach: str, *more: Constraint) -> Backend:
    """Return a backend of an engine with the rollout and the batch chain of PPO around it.

    ``role`` is the settings prefix of the model, ``reach`` the ranks that share a sequence, ``more`` what this engine
    asks of the batch.
    """
    is_actor = role == "actor_rollout_ref.actor"
    first = (*ROLLOUT, *ACTOR, *verl_options.RULES) if is_actor else ()
    return replace(
        backend,
        facts=(*backend.facts, *rollout(), *batch(role), *(verl_options.FACTS if is_actor else ())),
        lets=(*backend.lets, *LETS, ("reach", reach)),
        constraints=(*more, *backend.constraints, *first, *BATCH),
    )


SFT_BATCH = claims(
    """
    VC-21a BAT004 ValueError init | trainer/sft_trainer.py:241
    b >= dp
    train batch {b} leaves none for each of dp{dp} ranks
    adjust: b

    VC-21b BAT006 S cfg | trainer/sft_trainer.py:241
    b >= dp => b % dp = 0
    train batch {b} does not divide among dp{dp}; {b // dp·dp} are trained on at a time
    adjust: b

    VC-13 BAT002 A step1 | workers/engine/utils.py:92-130
    dynamic = 0 and b >= dp => b // dp % mbs = 0
    {b // dp} samples of a rank do not divide into micro batches of {mbs} ({b // dp % mbs} left over)
    adjust: mbs

    VC-14 BAT005 A step1 | utils/seqlen_balancing.py:384
    dynamic > 0 => tokens·reach >= length
    {tokens}·{reach} = {tokens·reach} tokens of a micro batch are fewer than those of one sequence, {length}
    adjust: tokens@ceil(length,reach)
    """
)
_SFT = (
    Key("b", ("data.train_batch_size",), 256),
    Key("mbs", ("data.micro_batch_size_per_gpu",), 4),
    Key("dynamic", ("data.use_dynamic_bsz",), 1, switch),
    Key("tokens", ("data.max_token_len_per_gpu",), 8192),
    Key("length", ("data.max_length",), 1024),
)


def sft(backend: Backend, reach: str) -> Backend:
    """Return a backend of an engine with the batch chain of the SFT trainer around it."""
    return replace(
        backend,
        facts=(*backend.facts, *_SFT),
        lets=(*backend.lets, ("reach", reach)),
        constraints=(*backend.constraints, *SFT_BATCH),
    )
