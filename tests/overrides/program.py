"""A small Hydra program with groups, classes and a search path, for the tests of the family."""

from __future__ import annotations

SCRIPT = "examples/run_small_fsdp.sh"
FILES = {
    "app/__init__.py": "raise RuntimeError('never imported')\n",
    "app/train.py": (
        "import hydra\nfrom app.build import omega_conf_to_dataclass\n\n"
        '@hydra.main(config_path="config", config_name="train", version_base=None)\n'
        "def main(config):\n    actor = omega_conf_to_dataclass(config.actor)\n"
    ),
    "app/tool.py": "print('no configuration here')\n",
    "app/options.py": (
        "from dataclasses import dataclass, field\nfrom typing import Any, Literal, Optional\n\n"
        'MODES = ["sync", "async"]\n\n\n'
        "class Base:\n    pass\n\n\n"
        "@dataclass\nclass Loss(Base):\n    mode: str = 'vanilla'\n    clip: float = 0.2\n\n\n"
        "@dataclass\nclass Actor(Base):\n    lr: float = 1e-6\n    steps: int = 1\n    offload: bool = False\n"
        '    kind: Literal["a", "b"] = "a"\n    mode: str = "async"\n    betas: tuple[float, float] = (0.9, 0.99)\n'
        "    files: str | list[str] | None = None\n    loss: Loss = field(default_factory=Loss)\n"
        "    old: Optional[int] = None  # deprecated\n    tau: float = 1.0\n    extra: Any = None\n\n"
        "    def __post_init__(self):\n        assert self.mode in MODES\n"
    ),
    "app/config/train.yaml": (
        "defaults:\n  - engine: dp\n  - actor@actor: ${engine}_actor\n  - _self_\n\n"
        "trainer:\n  nnodes: 1\n  n_gpus_per_node: 8\n  save_freq: -1\n  logger: [console]\n  flag: true\n"
        "  project_name: null\ndata:\n  train_files: some.parquet\n  max_length: 512\nextras: {}\n"
    ),
    "app/config/engine/dp.yaml": "# @package _global_\n{}\n",
    "app/config/engine/mega.yaml": "# @package _global_\n{}\n",
    "app/config/actor/actor.yaml": (
        "_target_: app.options.Actor\nlr: 1e-6\nsteps: 1\noffload: false\nkind: a\nmode: async\n"
        "betas: [0.9, 0.99]\nfiles: null\nold: null\nlength: ${data.max_length}\n"
        "name: ${oc.select:trainer.project_name,null}\n"
        "loss:\n  _target_: app.options.Loss\n  mode: vanilla\n"
    ),
    "app/config/actor/dp_actor.yaml": "defaults:\n  - actor\n  - _self_\nfsdp:\n  size: 1\n",
    "app/config/actor/mega_actor.yaml": (
        "defaults:\n  - actor\n  - _self_\nmega:\n  tp: 1\n  pp: 1\n  offload: false\n"
    ),
    "plug/__init__.py": "",
    "plug/config/actor/plug_actor.yaml": "_target_: app.options.Actor\nplugged: true\n",
}


def launcher(*words: str, module: str = "app.train") -> dict[str, str]:
    """Return the program and a launcher with one override a line."""
    lines = "".join(f" \\\n    {word}" for word in words)
    return {**FILES, SCRIPT: f"python3 -m {module}{lines}\n"}
