"""Run apart: builds the groups of a backend's own code, with a torch.distributed that only notes which ranks it is given.

Reads the kind of the backend, the path of its source and assignments as JSON; writes for each the groups by axis, or null
where the code refuses.
"""

from __future__ import annotations

import ast
import json
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path

Sizes = Mapping[str, int]
Groups = dict[str, list[list[int]]]
LITE = {
    "tp": "tp_group",
    "cp": "cp_group",
    "dp": "dp_group",
    "pp": "pp_group",
    "ep": "ep_group",
    "edp": "ep_dp_group",
}
CORE = "generate_masked_orthogonal_rank_groups", "RankGenerator"


class _Dist(types.ModuleType):
    """What Megatron Lite asks of torch.distributed; a group is the list of its ranks."""

    ProcessGroup = object
    rank = world = 0

    def is_initialized(self) -> bool:
        return True

    def get_world_size(self) -> int:
        return self.world

    def get_rank(self) -> int:
        return self.rank

    def new_group(self, ranks: list[int], backend: str | None = None) -> list[int]:
        return list(ranks)


def _divided(total: int, size: int, message: str = "") -> int:
    if total % size:
        raise ValueError(message)
    return total // size


def lite(path: Path) -> Callable[[Sizes], Groups]:
    """Return what builds the groups of Megatron Lite's init_parallel."""
    dist, torch = _Dist("torch.distributed"), types.ModuleType("torch")
    utils = types.ModuleType("megatron.lite.primitive.utils")
    torch.distributed, utils.ensure_divisible = dist, _divided  # type: ignore[attr-defined]
    sys.modules.update({"torch": torch, "torch.distributed": dist, utils.__name__: utils})
    sys.modules.update(
        {name: types.ModuleType(name) for name in ("megatron", "megatron.lite", "megatron.lite.primitive")}
    )
    module = types.ModuleType("state")
    sys.modules["state"] = module
    exec(compile(path.read_text("utf-8"), str(path), "exec"), vars(module))

    def groups(sizes: Sizes) -> Groups:
        dist.world = sizes["world"]
        found: dict[str, set[tuple[int, ...]]] = {axis: set() for axis in LITE}
        for rank in range(dist.world):
            dist.rank = rank
            state = module.init_parallel(types.SimpleNamespace(**sizes))
            for axis, name in LITE.items():
                found[axis].add(tuple(getattr(state, name)))
        return {axis: sorted(map(list, some)) for axis, some in found.items()}

    return groups


def core(path: Path) -> Callable[[Sizes], Groups]:
    """Return what builds the groups of Megatron-Core's rank generators, the rest of its module left out."""
    tree = ast.parse(path.read_text("utf-8"))
    wanted = [node for node in tree.body if getattr(node, "name", "") in CORE]
    space: dict[str, object] = {}
    exec("from __future__ import annotations\nfrom typing import *\nimport math", space)
    exec(compile(ast.Module(wanted, []), str(path), "exec", flags=annotations_flag()), space)
    generator: Callable[..., types.SimpleNamespace] = space["RankGenerator"]  # type: ignore[assignment]

    def groups(sizes: Sizes) -> Groups:
        dp = _divided(sizes["world"], sizes["tp"] * sizes["cp"] * sizes["pp"])
        edp = _divided(sizes["world"], sizes["etp"] * sizes["ep"] * sizes["pp"])
        order = "tp-cp-ep-dp-pp"
        dense = generator(tp=sizes["tp"], ep=1, dp=dp, pp=sizes["pp"], cp=sizes["cp"], order=order)
        expert = generator(tp=sizes["etp"], ep=sizes["ep"], dp=edp, pp=sizes["pp"], cp=1, order=order)
        found = {axis: dense.get_ranks(axis) for axis in ("tp", "cp", "dp", "pp")}
        found |= {"ep": expert.get_ranks("ep"), "etp": expert.get_ranks("tp"), "edp": expert.get_ranks("dp")}
        return {axis: sorted(map(sorted, some)) for axis, some in found.items()}

    return groups


def annotations_flag() -> int:
    """Return the flag that leaves annotations unevaluated."""
    import __future__

    return __future__.annotations.compiler_flag


def main() -> None:
    """Answer one request."""
    request = json.load(sys.stdin)
    build = {"lite": lite, "core": core}[request["kind"]](Path(request["path"]))
    json.dump([_answer(build, sizes) for sizes in request["assignments"]], sys.stdout)


def _answer(build: Callable[[Sizes], Groups], sizes: Sizes) -> Groups | None:
    try:
        return build(sizes)
    except ValueError:
        return None


if __name__ == "__main__":
    main()
