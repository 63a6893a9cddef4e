"""The machine of a launch, as far as the launcher shows it: the ranks that it starts, and the GPUs that it has."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec
from msgspec import field

from example_sanity.checks.mesh.files import parsed
from example_sanity.core.regex import regex
from example_sanity.launch.command import Entry, Launch
from example_sanity.launch.launchers import LAUNCHERS, Grammar
from example_sanity.launch.options import read_options
from example_sanity.parallel.mesh import whole_number

Options = Mapping[str, str]
Read = Callable[[str], "str | None"]

# What schedulers and cluster agents set: a default beside it is for a run by hand.
_SCHEDULED = regex(r"(?:SLURM|PET|OMPI|PMI|PBS|LSB|KUBERNETES)_\w+|WORLD_SIZE|PADDLE_\w+")
_DEVICES = regex(r"\d+(?:,\d+)*,?")
_SLOTS = regex(r"^\s*(\S+)\s+slots=(\d+)", re.MULTILINE)
_GRES = regex(r"(?:^|,)gpu:(?:[\w.-]+:)?(\d+)(?:\(|,|$)")
_COUNT = regex(r"(?:[\w.-]+:)?(\d+)")
# Of its many options only one that takes no value can hide the number.
_RAY_START = Grammar(
    switches=frozenset({"head", "block", "disable_usage_stats", "autoscaling", "no_monitor", "verbose"}),
    unknown_takes_value=True,
)
# Settings that say on how many nodes a trainer runs that starts its ranks itself.
_NODES = ("trainer.nnodes", "actor-num-nodes")


class Machine(msgspec.Struct, frozen=True):
    """What a launcher starts: ``world`` ranks, where it starts them one by one, on the GPUs of ``facts``.

    ``facts`` are ``gpn``, the ranks of a node, ``launched``, the GPUs that there are, ``reserved``, those that a
    scheduler holds for a launch that uses them all, and ``ray_gpus``, those of a node of the Ray cluster that the script
    starts, and ``max_connections``, CUDA_DEVICE_MAX_CONNECTIONS. What is not known is not in there.
    """

    world: int | None = None
    facts: Mapping[str, int] = field(default_factory=dict)


def machine(
    launch: Launch, entry: Entry, given: Mapping[str, object], read: Read = lambda _: None
) -> Machine:
    """Return the machine of an entry. ``given`` are its settings; ``read`` returns the text of a file or None."""
    header = batch_header(launch.script.text)
    world, per_node = _ranks(launch, entry, header, read)
    facts = {"gpn": per_node} if per_node else {}
    allocated = _allocated(launch, entry, header)
    visible = None if allocated else _visible(launch, entry, given)
    if allocated or visible:
        facts["launched"] = allocated or visible or 0
    if allocated and world and "torchrun" in _kinds(entry):
        facts["reserved"] = allocated
    connections = entry.command.environment.get("CUDA_DEVICE_MAX_CONNECTIONS", "")
    if (count := whole_number(connections)) and connections not in launch.scenario.placeholders.values():
        facts["max_connections"] = count
    if on_ray := _ray_gpus(launch, entry):
        facts["ray_gpus"] = on_ray
    return Machine(world, facts)


def batch_header(text: str) -> Options:
    """Return the options of the ``#SBATCH`` lines; Slurm reads them up to the first command."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            break
        if line.startswith("#SBATCH"):
            try:
                words = shlex.split(line[len("#SBATCH") :], comments=True)
            except ValueError:
                continue
            found.update(read_options(words, LAUNCHERS["sbatch"]).values)
    return found


def scheduled(launch: Launch, names: Iterable[str]) -> bool:
    """Whether a scheduler decides the value of one of these variables: what stands beside it is not what will run."""
    if not _mentions_scheduler(launch.script.text):
        return False
    reads: dict[str, set[str]] = {}
    for item in launch.script.assignments:
        reads.setdefault(item.name, set()).update((*item.reads, item.via or item.name))
    seen: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += reads.get(name, ())
    return any(_SCHEDULED.fullmatch(name) and name not in launch.scenario.environment for name in seen)


@lru_cache(maxsize=64)
def _mentions_scheduler(text: str) -> bool:
    # Asked for every setting of every scenario.
    return _SCHEDULED.search(text) is not None


def stable_options(launch: Launch, entry: Entry, kind: str) -> Options:
    """Return the options of one launcher of an entry, without those that a placeholder or a scheduler decides."""
    options = next((item.options for item in reversed(entry.launchers) if item.kind == kind), {})
    doubtful = tuple(_doubtful(launch, entry))
    return {name: value for name, value in options.items() if not name.startswith(doubtful)}


def _doubtful(launch: Launch, entry: Entry) -> Sequence[str]:
    """The names of the launchers' options that are not known for sure, maybe abbreviated."""
    argv, origins = entry.command.argv, entry.command.origins
    names: list[str] = []
    fed = {at for at, origin in enumerate(origins) if origin.knobs and scheduled(launch, origin.knobs)}
    for at in sorted((entry.command.unstable | fed).difference(entry.arguments)):
        word = argv[at] if argv[at].startswith("-") or at == 0 else argv[at - 1]
        name = word.lstrip("-").replace("-", "_").partition("=")[0]
        shorts = [LAUNCHERS[item.kind].short for item in entry.launchers if item.kind in LAUNCHERS]
        names += [short[part] for short in shorts for part in (name, name[:1]) if part in short]
        names += [name] if word.startswith("--") and name else []
    return names


def _kinds(entry: Entry) -> Sequence[str]:
    return [item.kind for item in entry.launchers]


def _ranks(launch: Launch, entry: Entry, header: Options, read: Read) -> tuple[int | None, int | None]:
    """The ranks in all and on a node; the innermost launcher that places processes decides."""
    for kind in reversed(_kinds(entry)):
        options = stable_options(launch, entry, kind)
        stated = next((item.options for item in reversed(entry.launchers) if item.kind == kind), {})
        if kind == "torchrun":
            return _torchrun(options, stated)
        if kind == "accelerate":
            return _accelerate({**_accelerate_file(options, stated, read), **options})
        if kind == "deepspeed":
            return _deepspeed(options, stated, read)
        if kind == "mpirun":
            return whole_number(options.get("np")), None
        if kind == "srun":
            return _srun({**header, **options})
    return None, None


def _torchrun(options: Options, stated: Options) -> tuple[int | None, int | None]:
    nodes = whole_number(options.get("nnodes", None if "nnodes" in stated else 1))
    unset = None if "nproc_per_node" in stated else 1
    per_node = whole_number(options.get("nproc_per_node", unset))
    return (nodes * per_node if nodes and per_node else None), per_node


def _accelerate_file(options: Options, stated: Options, read: Read) -> Options:
    """What ``--config_file`` says where the options say nothing."""
    name = options.get("config_file", "")
    data = parsed(name, read(name)) or {}
    sizes = ("num_processes", "num_machines")
    return {size: str(data[size]) for size in sizes if size in data and size not in stated}


def _accelerate(options: Options) -> tuple[int | None, int | None]:
    world, nodes = whole_number(options.get("num_processes")), whole_number(options.get("num_machines"))
    return world, world // nodes if world and nodes and world % nodes == 0 else None


def _deepspeed(options: Options, stated: Options, read: Read) -> tuple[int | None, int | None]:
    if "include" in stated or "exclude" in stated:
        return _included(options.get("include", "")), None
    slots = [int(count) for _, count in _SLOTS.findall(read(options.get("hostfile", "")) or "")]
    unset = len(slots) if slots else None if "hostfile" in stated else 1
    nodes = whole_number(options.get("num_nodes", None if "num_nodes" in stated else unset))
    per_node = whole_number(options.get("num_gpus", None))
    if per_node is None and "num_gpus" not in stated and slots and nodes:
        return sum(slots[:nodes]), slots[0] if len(set(slots)) == 1 else None
    return (nodes * per_node if nodes and per_node else None), per_node


def _included(text: str) -> int | None:
    """The ranks of ``host1:0,1@host2:0,1``; None where a host's slots are not listed."""
    hosts = [host.partition(":")[2] for host in text.split("@")]
    if not all(_DEVICES.fullmatch(slots) for slots in hosts):
        return None
    return sum(len(slots.strip(",").split(",")) for slots in hosts)


def _srun(options: Options) -> tuple[int | None, int | None]:
    tasks = whole_number(options.get("ntasks"))
    nodes, per_node = whole_number(options.get("nodes")), whole_number(options.get("ntasks_per_node"))
    if tasks is None and nodes and per_node:
        tasks = nodes * per_node
    return tasks, per_node


def _allocated(launch: Launch, entry: Entry, header: Options) -> int | None:
    """The GPUs that Slurm gives, where the launcher states both nodes and GPUs of a node."""
    options = {**header, **stable_options(launch, entry, "srun")} if "srun" in _kinds(entry) else header
    nodes, per_node = whole_number(options.get("nodes")), _gpus_of_node(options)
    return nodes * per_node if nodes and per_node else None


def _ray_gpus(launch: Launch, entry: Entry) -> int | None:
    """The GPUs of the largest node that ``ray start --num-gpus`` announces before the entry; None where one does not say."""
    counts: list[int | None] = []
    for command in launch.commands:
        if command is entry.command:
            break
        if command.argv[:2] == ("ray", "start"):
            options = read_options(command.argv[2:], _RAY_START).values
            place = next((at for at, word in enumerate(command.argv) if word.startswith("--num-gpus")), 0)
            known = command.unstable.isdisjoint((place, place + 1))
            counts.append(whole_number(options.get("num_gpus")) if known else None)
    return max((count for count in counts if count), default=None) if all(counts) else None


def _gpus_of_node(options: Options) -> int | None:
    found = _COUNT.fullmatch(options.get("gpus_per_node", "")) or _GRES.search(options.get("gres", ""))
    return int(found[1]) if found else None


def _visible(launch: Launch, entry: Entry, given: Mapping[str, object]) -> int | None:
    """The GPUs that ``CUDA_VISIBLE_DEVICES`` leaves to a launch on one node."""
    nodes = next((given[key] for key in _NODES if key in given), None)
    ranks = (
        stable_options(launch, entry, "torchrun").get("nnodes", "1") if "torchrun" in _kinds(entry) else "1"
    )
    alone = whole_number(nodes if nodes is not None else ranks) == 1
    if not alone or "ray" in _kinds(entry) or "srun" in _kinds(entry):
        return None
    devices = entry.command.environment.get("CUDA_VISIBLE_DEVICES", "")
    made_up = devices in launch.scenario.placeholders.values()
    return len(devices.strip(",").split(",")) if _DEVICES.fullmatch(devices) and not made_up else None
