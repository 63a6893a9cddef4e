"""What verl's backends have in common: the world, the roles, and how a launch chooses its engine.

Sources: verl ``trainer/config/ppo_trainer.yaml`` and ``sft_trainer_engine.yaml`` (defaults of nnodes and
n_gpus_per_node, engine groups), ``trainer/ppo/utils.py`` (when a reference policy or a critic is needed).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import msgspec

from example_sanity.parallel.keys import Key, Settings

ACTOR, REF, CRITIC = "actor_rollout_ref.actor", "actor_rollout_ref.ref", "critic"

PPO_WORLD = (
    Key("nnodes", ("trainer.nnodes",), 1),
    Key("gpn", ("trainer.n_gpus_per_node",), 8),
)
# The SFT trainer runs under torchrun, which decides the world; its own defaults (1 · 1) serve only the Ray variant.
SFT_WORLD = (
    Key("nnodes", ("trainer.nnodes",)),
    Key("gpn", ("trainer.n_gpus_per_node",)),
)

PPO_MODEL, SFT_MODEL = ("actor_rollout_ref.model.path",), ("model.path",)

# verl's own configurations; each has the defaults of its engine files. Any other may have changed them.
STOCK_CONFIGS = frozenset(
    f"{prefix}ppo_{infix}trainer"
    for prefix in ("", "fully_async_", "one_step_off_")
    for infix in ("", "megatron_")
) | {"sft_trainer_engine"}


class Engine(msgspec.Struct, frozen=True):
    """How verl spells a backend: the group's name, where its sizes live, and the last part of each size's key."""

    group: str
    ppo: str
    sizes: Mapping[str, tuple[str, int | str | None]]

    def keys(self, *prefixes: str) -> tuple[Key, ...]:
        """Return the keys under these prefixes, the nearest prefix first."""
        return tuple(
            Key(symbol, tuple(f"{prefix}.{name}" for prefix in prefixes), default)
            for symbol, (name, default) in self.sizes.items()
        )

    def runs(self, role: str, *group_keys: str) -> Callable[[Settings, str | None], bool]:
        """Return the test whether a launch runs this engine in ``role`` (the settings prefix of that model)."""

        def applies(settings: Settings, program: str | None) -> bool:
            stated = stated_engine(settings, role, group_keys)
            own = any(f"{role}.{self.ppo}.{name}" in settings for name, _ in self.sizes.values())
            return (own if stated is None else stated == self.group) and needed(settings, role, own)

        return applies

    def trains(self, settings: Settings, program: str | None) -> bool:
        """Return whether a launch runs verl's SFT trainer on this engine."""
        own = any(f"engine.{name}" in settings for name, _ in self.sizes.values())
        return trains_with({self.group}, own)(settings, program)


def trains_with(groups: Collection[str], default: bool) -> Callable[[Settings, str | None], bool]:
    """Return the test whether verl's SFT trainer runs one of these engines; ``default`` counts where none is named."""

    def applies(settings: Settings, program: str | None) -> bool:
        if program is not None and "verl" not in program and "sft" not in program:
            return False
        choice = next((settings[key] for key in ("engine", "engine@engine") if key in settings), None)
        stated = settings.get("engine.strategy") if choice is None else choice
        return default if stated is None else stated in groups

    return applies


def stated_engine(settings: Settings, role: str, group_keys: tuple[str, ...]) -> str | None:
    """Return the engine that the settings name for a role: by group, strategy, model_engine or configuration name."""
    for key in (*group_keys, f"{role}.strategy", "model_engine"):
        if isinstance(value := settings.get(key), str):
            return value.partition("_")[0]
    return "megatron" if "megatron" in str(settings.get("config-name", "")) else None


def defaults_hold(settings: Settings) -> bool:
    """Return whether the launch reads one of verl's own configurations, so that what it leaves out is known."""
    name = settings.get("config-name")
    return name is None or str(name).removesuffix(".yaml") in STOCK_CONFIGS


def needed(settings: Settings, role: str, own: bool) -> bool:
    """Return whether verl builds the model of ``role``; a ref or critic without sizes of its own adds no mesh."""
    if role == REF:
        kl = settings.get(f"{ACTOR}.use_kl_loss"), settings.get("algorithm.use_kl_in_reward")
        return own and True in kl
    if role == CRITIC:
        enabled = settings.get("critic.enable")
        gae = settings.get("algorithm.adv_estimator", "gae") == "gae"
        return own and (gae if enabled is None else enabled is True)
    return True
