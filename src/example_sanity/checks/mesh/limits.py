"""MSH006-011: the rollout, the model and the machine against the mesh."""

from __future__ import annotations

from example_sanity.checks.mesh.constraints import ConstraintRule
from example_sanity.core.finding import Severity
from example_sanity.core.rule import Example, Rule, Subject

_PPO = (
    "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.strategy={} trainer.nnodes={} \\\n"
    "    trainer.n_gpus_per_node=8 actor_rollout_ref.model.path={} \\\n    {}\n"
)
_PRETRAIN = "torchrun --nnodes={} --nproc_per_node=8 pretrain_gpt.py {}\n"


def _ppo(settings: str, *, engine: str = "fsdp", nodes: int = 1, model: str = "Qwen/Qwen2.5-7B") -> Example:
    return Example(_PPO.format(engine, nodes, model, settings))


def _pretrain(flags: str, nodes: int = 1, header: str = "") -> Example:
    return Example(header + _PRETRAIN.format(nodes, flags))


class RolloutMesh(ConstraintRule):
    """The rollout engine's replicas do not fit the GPUs of the launch.

    A replica of the rollout engine takes tp·dp·pp GPUs. The world must be a whole number of replicas, and a replica
    must fill nodes or divide one. Some trainers check this in the driver, some when the engine starts, and one case
    passes every check: a replica that lies across two nodes. Change the rollout's tensor parallel size as the message
    says; its default need not be 1 (2 in verl).
    """

    code = "MSH006"
    name = "rollout-mesh"
    summary = "the sizes of the rollout engine do not fit the world or the node"
    subject = Subject.LAUNCH
    source = (
        "verl workers/engine_workers.py, workers/rollout/replica.py; the trainers' own in docs/backends.md"
    )
    bad = (_ppo("actor_rollout_ref.rollout.tensor_model_parallel_size=16"),)
    good = (_ppo("actor_rollout_ref.rollout.tensor_model_parallel_size=4"),)


class LayerSplit(ConstraintRule):
    """The layers of the model do not divide among the pipeline stages.

    Layers, embedding and loss are split among pp stages, and with virtual stages among pp·vpp chunks. Where the number
    of layers does not divide, the backend wants to be told how uneven stages look (the layers of the first or last
    stage, or a layout), stops, or leaves layers out. The layers are those of the flags, of a ``config.json`` in the
    repository, or of the table of models; where they are not known, nothing is said.
    """

    code = "MSH007"
    name = "layer-split"
    summary = "the layers do not divide among pipeline stages or model chunks"
    subject = Subject.LAUNCH
    source = "Megatron-LM megatron/training/arguments.py, core/transformer/transformer_block.py"
    bad = (_pretrain("--pipeline-model-parallel-size 4 --num-layers 30"),)
    good = (
        _pretrain("--pipeline-model-parallel-size 4 --num-layers 32"),
        _pretrain(
            "--pipeline-model-parallel-size 4 --num-layers 30 --decoder-first-pipeline-num-layers 6",
        ),
    )


class HeadSplit(ConstraintRule):
    """The attention heads of the model do not divide among the ranks that share them.

    Tensor parallel ranks and Ulysses ranks split the attention heads, so their number must divide them. KV heads are
    fewer: some backends replicate them, others want them divided as well. A hidden size that does not divide among the
    heads belongs here, too.
    """

    code = "MSH008"
    name = "head-split"
    summary = "attention or KV heads do not divide among tensor, context or Ulysses ranks"
    subject = Subject.LAUNCH
    source = "verl models/transformers/monkey_patch.py; Megatron-LM core/transformer/transformer_config.py"
    bad = (_ppo("actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size=8"),)
    good = (_ppo("actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size=4"),)


class ModelLimit(ConstraintRule):
    """The launch asks for something that the model, the engine or the sequence length does not allow.

    Examples: tensor parallel for a model that the backend runs with tp 1 only, a rollout longer than the model has
    positions, context parallel with a sequence length that is no multiple of 2·cp, an engine without pipeline stages.
    """

    code = "MSH009"
    name = "model-limit"
    summary = "the model, the engine or the sequence length does not allow these sizes"
    subject = Subject.LAUNCH
    source = "each constraint names the place in the backend that checks it"
    bad = (_pretrain("--context-parallel-size 8 --seq-length 1000"),)
    good = (_pretrain("--context-parallel-size 8 --seq-length 1024"),)


class LauncherSizeMismatch(ConstraintRule):
    """The launcher starts or has another number of GPUs than its settings describe.

    Too few, and the trainer waits for GPUs that never come: a scheduler's header, the visible devices and the trainer's
    own sizes are compared by nobody. Too many that were reserved, and they are paid for and idle (a warning).
    """

    code = "MSH010"
    name = "launcher-size-mismatch"
    summary = "the GPUs that the launcher has are not those that its settings ask for"
    subject = Subject.LAUNCH
    source = "Slurm, torchrun and Ray start what they are told; the settings of the trainer are compared with it by nobody"
    bad = (
        _pretrain(
            "--tensor-model-parallel-size 8", 4, "#!/bin/bash\n#SBATCH --nodes=2 --gpus-per-node=8\nsrun "
        ),
        Example("CUDA_VISIBLE_DEVICES=0,1,2,3 " + _ppo("data.train_batch_size=1024").text),
    )
    good = (
        _pretrain(
            "--tensor-model-parallel-size 8", 4, "#!/bin/bash\n#SBATCH --nodes=4 --gpus-per-node=8\nsrun "
        ),
    )


class CrossNodeTp(ConstraintRule):
    """A tensor parallel group spans nodes.

    Every layer makes the ranks of such a group exchange activations. Within a node that goes over NVLink, between nodes
    over the network, an order of magnitude slower. It works, so this is a warning: keep tp within a node and use more
    pipeline stages instead.
    """

    code = "MSH011"
    name = "cross-node-tp"
    summary = "tensor parallel ranks are on different nodes, which is slow"
    severity = Severity.WARNING
    subject = Subject.LAUNCH
    source = "the rank order of the backend (tp is innermost) and the GPUs of a node"
    bad = (_pretrain("--tensor-model-parallel-size 16", 2),)
    good = (_pretrain("--tensor-model-parallel-size 8 --pipeline-model-parallel-size 2", 2),)


_CONFIG = {
    "models/mine/config.json": '{"num_hidden_layers": 36, "num_attention_heads": 32, "rope_theta": 10000000}'
}
_SLIME = (
    "python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --hf-checkpoint models/mine \\\n"
    "    --num-layers 36 --num-attention-heads 32 \\\n    --rotary-base {}\n"
)


class ModelArguments(ConstraintRule):
    """The flags that describe the model contradict the checkpoint that the launch names.

    slime and miles build the model from Megatron's flags and load a Hugging Face checkpoint into it; they compare the
    two when they start. A file of model flags that is shared by several models is right for one of them. The checkpoint
    is a ``config.json`` in the repository or a model of the table; what neither says is not compared.
    """

    code = "MSH012"
    name = "model-arguments"
    summary = "the model flags contradict the checkpoint"
    subject = Subject.LAUNCH
    source = "slime slime/backends/megatron_utils/arguments.py:97-148"
    bad = (Example(_SLIME.format(1000000), files=_CONFIG),)
    good = (Example(_SLIME.format(10000000), files=_CONFIG),)


LIMITS: tuple[type[Rule], ...] = (
    RolloutMesh,
    LayerSplit,
    HeadSplit,
    ModelLimit,
    LauncherSizeMismatch,
    CrossNodeTp,
    ModelArguments,
)
