"""A configuration file of a trainer that no other backend knows: ``tp_size: 4``, ``pp_size: 2``, ``dp_size: 1``.

The names are the field's, so what they mean is known without the program: a device mesh of these sizes over the ranks
that the launcher starts. torch refuses a mesh that is larger than the world, and leaves ranks without a place in one
that does not fill it (``torch/distributed/device_mesh.py``). Nothing is said of sections that describe an inference
engine, which may have GPUs of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from example_sanity.core.regex import regex
from example_sanity.parallel.constraint import Constraint, Split, claims, divides
from example_sanity.parallel.keys import Key, Settings, configuration_read, whole_number
from example_sanity.parallel.mesh import Backend

_SPELLINGS = {
    "tp": ("tp_size", "tensor_parallel_size", "tensor_model_parallel_size"),
    "pp": ("pp_size", "pipeline_parallel_size", "pipeline_model_parallel_size"),
    "cp": ("cp_size", "context_parallel_size"),
    "stated_dp": ("dp_size", "data_parallel_size"),
}
_NODES = ("cluster.num_nodes", "cluster.nnodes", "trainer.num_nodes", "trainer.nnodes")
_NODE_GPUS = ("cluster.gpus_per_node", "cluster.n_gpus_per_node", "cluster.num_gpus_per_node")
_SYMBOL = {name: symbol for symbol, names in _SPELLINGS.items() for name in names}
_INFERENCE = regex(
    r"(?:^|[._])(?:rollout|generation|generator|infer\w*|serv\w*|eval\w*|vllm|sglang|engine|judge|reward\w*)"
)
DENSE = Split("dp", ("tp", "cp", "pp"), ("tp", "cp", "dp", "pp"))
RULES: tuple[Constraint, ...] = (
    divides(DENSE, "SF-01", "MSH001", "RuntimeError", "torch/distributed/device_mesh.py"),
    *claims(
        """
        SF-02 MSH010 R init | torch/distributed/device_mesh.py
        stated_dp > 0 and world % (tp·cp·pp) = 0 => world % (tp·cp·pp·stated_dp) = 0
        the launcher starts {world} ranks, but the file describes tp{tp}·cp{cp}·pp{pp}·dp{stated_dp} =
          {tp·cp·pp·stated_dp}
        adjust: stated_dp

        SF-03 MSH010 R init | torch/distributed/device_mesh.py
        world = nodes·node_gpus
        the launcher starts {world} ranks, but the file describes {nodes} nodes of {node_gpus} GPUs = {nodes·node_gpus}
        adjust: nodes node_gpus
        """
    ),
)


def _backend(prefix: str) -> Backend:
    def keys(symbol: str) -> tuple[str, ...]:
        return tuple(f"{prefix}{name}" for name in _SPELLINGS[symbol])

    return Backend(
        name="sized_file",
        title=f"the sizes of {prefix.rstrip('.')}" if prefix else "the sizes of the file",
        role="trainer",
        keys=tuple(Key(symbol, keys(symbol), 1) for symbol in ("tp", "pp", "cp")),
        world=(),
        splits=(DENSE,),
        constraints=RULES,
        applies=lambda _, __: False,
        facts=(
            Key("stated_dp", keys("stated_dp"), 0),
            Key("nodes", _NODES),
            Key("node_gpus", _NODE_GPUS, "gpn"),
        ),
    )


# Nothing uses it as it stands: found() makes one for each section.
BACKENDS = (_backend(""),)


def found(settings: Settings) -> Iterator[Backend]:
    """Yield a backend for each section of the files that states two sizes or more, else one for the cluster."""
    if not configuration_read(settings):
        return
    sections: dict[str, set[str]] = {}
    for key in settings:
        section, _, name = key.rpartition(".")
        if name in _SYMBOL and whole_number(settings[key]) is not None:
            sections.setdefault(section, set()).add(_SYMBOL[name])
    stated = [name for name, symbols in sections.items() if len(symbols) > 1 and not _INFERENCE.search(name)]
    if not stated and any(key in settings for key in _NODES):
        stated = [""]
    for section in stated:
        yield _backend(f"{section}." if section else "")
