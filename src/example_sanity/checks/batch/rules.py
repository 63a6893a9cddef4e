"""BAT001-009: the batch chain against the ranks that it divides among."""

from __future__ import annotations

from example_sanity.checks.mesh.constraints import ConstraintRule
from example_sanity.core.finding import Severity
from example_sanity.core.rule import Example, Rule, Subject

_MLITE = (
    "python3 -m verl.trainer.main_ppo actor@actor_rollout_ref.actor=mlite_actor \\\n"
    "    trainer.nnodes=3 trainer.n_gpus_per_node=8 actor_rollout_ref.actor.use_dynamic_bsz=True \\\n    {}\n"
)
_FSDP = (
    "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.strategy=fsdp \\\n"
    "    trainer.nnodes=1 trainer.n_gpus_per_node=8 \\\n    {}\n"
)
_PRETRAIN = "torchrun --nproc_per_node=8 pretrain_gpt.py --tensor-model-parallel-size 1 \\\n    {}\n"
_SLIME = (
    "python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --tensor-model-parallel-size 2 --colocate \\\n"
    "    {}\n"
)
_SFT = "torchrun --nproc_per_node=8 -m verl.trainer.sft_trainer engine=fsdp data.max_length=1024 \\\n    {}\n"
_OPENRLHF = "deepspeed --num_gpus 7 --module openrlhf.cli.train_sft {}\n"


class MiniBatch(ConstraintRule):
    """The samples of one update do not divide among the data parallel ranks.

    An update takes mini batch · responses per prompt samples, and each data parallel rank gets its share. verl asserts
    this only at the first update, after a whole rollout was paid for; nothing before looks at it when micro batches are
    sized by tokens. The message names the nearest mini batch that divides.
    """

    code = "BAT001"
    name = "mini-batch"
    summary = "the samples of an update do not divide among the data parallel ranks"
    subject = Subject.LAUNCH
    source = "verl workers/engine_workers.py:266; slime utils/dp_schedule.py:151"
    bad = (Example(_MLITE.format("actor_rollout_ref.actor.ppo_mini_batch_size=64")),)
    good = (Example(_MLITE.format("actor_rollout_ref.actor.ppo_mini_batch_size=72")),)


class MicroBatch(ConstraintRule):
    """The samples of a rank do not divide into micro batches.

    A rank works through its share of an update in micro batches of one size, so that size must divide the share. Choose
    a divisor, or let the trainer pack micro batches by tokens where it can.
    """

    code = "BAT002"
    name = "micro-batch"
    summary = "the samples of a rank do not divide into micro batches"
    subject = Subject.LAUNCH
    source = "verl workers/engine/utils.py:92-130; slime utils/dp_schedule.py"
    bad = (
        Example(
            _FSDP.format(
                "actor_rollout_ref.actor.ppo_mini_batch_size=64 "
                "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=3"
            )
        ),
    )
    good = (
        Example(
            _FSDP.format(
                "actor_rollout_ref.actor.ppo_mini_batch_size=64 "
                "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4"
            )
        ),
    )


class GlobalBatch(ConstraintRule):
    """The global batch does not divide into micro batches on all ranks, or contradicts what it is computed from.

    The global batch is micro batch · data parallel size · accumulation steps. Most trainers refuse another number when
    they check their arguments.
    """

    code = "BAT003"
    name = "global-batch"
    summary = "the global batch does not divide into micro batch · dp"
    subject = Subject.LAUNCH
    source = "Megatron-LM megatron/training/arguments.py:743-748; verl utils/config.py:98-113"
    bad = (Example(_PRETRAIN.format("--micro-batch-size 2 --global-batch-size 100")),)
    good = (Example(_PRETRAIN.format("--micro-batch-size 2 --global-batch-size 96")),)


class ZeroIterations(ConstraintRule):
    """The batch makes no step at all.

    With fewer samples than one step, or one rank, takes, a whole quotient is 0: the trainer stops, or worse, finishes
    at once without having trained.
    """

    code = "BAT004"
    name = "zero-iterations"
    summary = "the batch is too small for a single step"
    subject = Subject.LAUNCH
    source = "slime utils/dp_schedule.py:135-139; OpenRLHF utils/deepspeed/deepspeed.py:110"
    bad = (Example(_SLIME.format("--rollout-batch-size 8 --n-samples-per-prompt 4 --global-batch-size 64")),)
    good = (
        Example(_SLIME.format("--rollout-batch-size 16 --n-samples-per-prompt 4 --global-batch-size 64")),
    )


class TokenBudget(ConstraintRule):
    """The token budget of a micro batch is smaller than the longest sequence.

    With micro batches packed by tokens a sequence must fit into one, counted over the ranks that share it (Ulysses or
    context parallel). A run starts and works until the first sequence that does not fit.
    """

    code = "BAT005"
    name = "token-budget"
    summary = "a micro batch has fewer tokens than the longest sequence"
    subject = Subject.LAUNCH
    source = "verl utils/seqlen_balancing.py:384; slime utils/arguments.py:1867"
    bad = (
        Example(
            _FSDP.format(
                "actor_rollout_ref.actor.use_dynamic_bsz=True data.max_prompt_length=2048 \\\n"
                "    data.max_response_length=16384 actor_rollout_ref.actor.ppo_max_token_len_per_gpu=16384"
            )
        ),
    )
    good = (
        Example(
            _FSDP.format(
                "actor_rollout_ref.actor.use_dynamic_bsz=True data.max_prompt_length=2048 \\\n"
                "    data.max_response_length=8192 actor_rollout_ref.actor.ppo_max_token_len_per_gpu=16384"
            )
        ),
    )


class SilentFloor(ConstraintRule):
    """A batch is rounded without a word.

    The run works, but with another batch than the launcher says: verl's SFT trainer rounds the batch of a rank down, and
    its PPO trainer fills the last mini batch with empty prompts.
    """

    code = "BAT006"
    name = "silent-floor"
    summary = "a batch is rounded to another size than the launcher says"
    severity = Severity.WARNING
    subject = Subject.LAUNCH
    source = "verl trainer/sft_trainer.py:241, trainer/ppo/v1/trainer_base.py:1484-1516"
    bad = (Example(_SFT.format("data.train_batch_size=100 data.micro_batch_size_per_gpu=4")),)
    good = (Example(_SFT.format("data.train_batch_size=96 data.micro_batch_size_per_gpu=4")),)


class Truncation(ConstraintRule):
    """Samples are generated and then dropped.

    Generating them takes most of a step's time. Choose a batch of which every sample is trained on.
    """

    code = "BAT007"
    name = "truncation"
    summary = "samples of a rollout are dropped, as they do not fill a step"
    severity = Severity.WARNING
    subject = Subject.LAUNCH
    source = "slime utils/dp_schedule.py:135-139; SkyRL skyrl/train/utils/utils.py:156-190"
    bad = (Example(_SLIME.format("--rollout-batch-size 24 --n-samples-per-prompt 4 --global-batch-size 64")),)
    good = (
        Example(_SLIME.format("--rollout-batch-size 32 --n-samples-per-prompt 4 --global-batch-size 64")),
    )


class Accumulation(ConstraintRule):
    """Gradient accumulation comes out as no whole number of steps.

    Accumulation steps are batch / (micro batch · dp). DeepSpeed asserts the product, OpenRLHF rounds it down and trains
    with a smaller batch than it says.
    """

    code = "BAT008"
    name = "accumulation"
    summary = "the batch is no whole number of accumulation steps"
    subject = Subject.LAUNCH
    source = "DeepSpeed deepspeed/runtime/config.py:937; OpenRLHF utils/deepspeed/deepspeed.py:110"
    bad = (Example(_OPENRLHF.format("--train_batch_size 256 --micro_train_batch_size 2")),)
    good = (Example(_OPENRLHF.format("--train_batch_size 252 --micro_train_batch_size 2")),)


class BatchBelowMini(ConstraintRule):
    """A batch is smaller than the one that it is cut into, or no multiple of it.

    A step's prompts are cut into mini batches, and over-sampling asks for more prompts than it keeps. Where the larger
    batch is the smaller number, the trainer refuses to start.
    """

    code = "BAT009"
    name = "batch-below-mini"
    summary = "a batch is smaller than the mini batch that it is cut into"
    subject = Subject.LAUNCH
    source = "verl workers/config/actor.py:224-230; slime utils/arguments.py:1988"
    bad = (
        Example(
            _FSDP.format("data.train_batch_size=64 actor_rollout_ref.actor.ppo_mini_batch_size=128"),
        ),
    )
    good = (
        Example(
            _FSDP.format("data.train_batch_size=128 actor_rollout_ref.actor.ppo_mini_batch_size=64"),
        ),
    )


CONSTRAINED: tuple[type[Rule], ...] = (
    MiniBatch,
    MicroBatch,
    GlobalBatch,
    ZeroIterations,
    TokenBudget,
    SilentFloor,
    Truncation,
    Accumulation,
    BatchBelowMini,
)
