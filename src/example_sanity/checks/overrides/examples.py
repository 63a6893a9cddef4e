"""A small Hydra program, around the launchers that show the rules."""

from __future__ import annotations

from example_sanity.core.rule import Example

FILES = {
    "app/__init__.py": "",
    "app/train.py": (
        "import hydra\n\nfrom app.build import instantiate\n\n\n"
        '@hydra.main(config_path="config", config_name="train", version_base=None)\n'
        "def main(config):\n    optim = instantiate(config.optim)\n"
    ),
    "app/options.py": (
        "from dataclasses import dataclass\nfrom typing import Literal, Optional\n\n\n"
        "@dataclass\nclass Adam:\n    lr: float = 1e-3\n    betas: list[float] = (0.9, 0.95)\n"
        '    schedule: Literal["constant", "cosine"] = "constant"\n    momentum: float = 0.9\n'
        "    warmup: Optional[int] = None  # deprecated\n"
        "\n\n@dataclass\nclass Sized:\n    size: int\n"
    ),
    "app/config/train.yaml": (
        "defaults:\n  - optim: adam\n  - _self_\n\n"
        "trainer:\n  nnodes: 1\n  name: run\n  save: 5\n  extra: {}\ndata:\n  path: null\n"
    ),
    "app/config/bare.yaml": ("trainer:\n  nnodes: 1\n  name: ???\noptim:\n  _target_: app.options.Sized\n"),
    "app/config/optim/adam.yaml": (
        "_target_: app.options.Adam\nlr: 1e-3\nbetas: [0.9, 0.95]\nschedule: constant\nwarmup: null\n"
    ),
}


def bad(*words: str, module: str = "app.train") -> Example:
    """Return a launcher of the program with some overrides."""
    return Example(f"python3 -m {module} {' '.join(words)}\n", files=FILES)


good = bad


def shipped(*words: str) -> Example:
    """Return a launcher of a program that is not in the project."""
    return Example(f"python3 -m verl.trainer.main_ppo {' '.join(words)}\n")
