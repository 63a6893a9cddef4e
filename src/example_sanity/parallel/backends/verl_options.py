"""What verl asks of options beside the batch chain: which micro batch is set, pools of their own, the teacher of distillation.

Source of the rules: verl ``utils/config.py`` (validate_config), ``workers/config/actor.py`` and ``distillation.py``,
``trainer/ppo/v1/trainer_base.py``, ``protocol.py``.
"""

from __future__ import annotations

from example_sanity.parallel.constraint import claims
from example_sanity.parallel.keys import Key, present, switch

_ACTOR, _ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
_DISTILLATION = "distillation"
_TEACHER = f"{_DISTILLATION}.teacher_models.teacher_model.inference"

FACTS = (
    Key("has_mbs", (f"{_ACTOR}.ppo_micro_batch_size_per_gpu",), 0, present),
    Key("has_old_mbs", (f"{_ACTOR}.ppo_micro_batch_size",), 0, present),
    Key("has_log_mbs", (f"{_ROLLOUT}.log_prob_micro_batch_size_per_gpu",), 0, present),
    Key("has_old_log_mbs", (f"{_ROLLOUT}.log_prob_micro_batch_size",), 0, present),
    Key("log_dynamic", (f"{_ROLLOUT}.log_prob_use_dynamic_bsz",), None, switch),
    Key("fetched", ("data.gen_batch_size",), 0),
    Key("loops", (f"{_ROLLOUT}.agent.num_workers",), 8),
    Key("own_gpn", (f"{_ROLLOUT}.n_gpus_per_node", "rollout.n_gpus_per_node")),
    Key("distils", (f"{_DISTILLATION}.enabled",), 0, switch),
    Key("teacher_nodes", (f"{_DISTILLATION}.nnodes",), 0),
    Key("teacher_gpn", (f"{_DISTILLATION}.n_gpus_per_node",), 8),
    # Other teachers drop this one: its default says nothing, only a size that is set does.
    Key("ttp", (f"{_TEACHER}.tensor_model_parallel_size",)),
    Key("tdp", (f"{_TEACHER}.data_parallel_size",), 1),
    Key("tpp", (f"{_TEACHER}.pipeline_model_parallel_size",), 1),
)
RULES = claims(
    """
    VC-06a BAT002 V cfg | workers/config/actor.py:200-206
    dynamic = 0 => has_mbs + has_old_mbs < 2
    both ppo_micro_batch_size and ppo_micro_batch_size_per_gpu are set; keep the second

    VC-05 BAT002 V cfg | utils/config.py:140-148,160-165
    dynamic = 0 => has_log_mbs + has_old_log_mbs < 2
    both rollout.log_prob_micro_batch_size and log_prob_micro_batch_size_per_gpu are set; keep the second

    VC-10 BAT002 A init | workers/engine_workers.py:615
    log_dynamic = dynamic
    actor.use_dynamic_bsz and rollout.log_prob_use_dynamic_bsz must be the same

    VC-17 BAT003 V step1 | trainer/ppo/v1/trainer_base.py:1378-1384
    v_one > 0 and apart = 0 and fetched > 0 => b % fetched = 0
    train batch {b} is not fetched in whole parts of gen_batch_size {fetched} ({b % fetched} left over)
    adjust: fetched b

    VC-19a BAT003 A step1 | protocol.py:872-875
    v_one = 0 and apart = 0 => b·n % dp = 0
    {b}·{n} = {b·n} samples of a step do not divide among dp{dp} ({b·n % dp} left over)
    adjust: b

    VC-19b BAT003 A step1 | protocol.py:872-875
    v_one = 0 and apart = 0 => b·n % loops = 0
    {b}·{n} = {b·n} samples of a step do not divide among {loops} agent loop workers ({b·n % loops} left over)
    adjust: b

    VR-05 MSH006 wasteful init | workers/rollout/llm_server.py:549-554
    own_nodes > 0 => own_nodes·own_gpn % w = 0
    {own_nodes}·{own_gpn} = {own_nodes·own_gpn} rollout GPUs do not divide into replicas of {w}
      ({own_nodes·own_gpn % w} stay idle)
    adjust: rtp

    VR-10 MSH006 V cfg | workers/config/distillation.py:300-307
    distils > 0 and teacher_nodes > 0 => teacher_nodes·teacher_gpn % (ttp·tdp·tpp) = 0
    {teacher_nodes}·{teacher_gpn} = {teacher_nodes·teacher_gpn} GPUs of the teacher do not divide into replicas of
      {ttp·tdp·tpp}
    adjust: ttp
    """
)
