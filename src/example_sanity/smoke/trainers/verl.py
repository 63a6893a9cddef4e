"""What a smoke run of verl changes: batch and lengths, the rollout, where model and data are, when to stop.

Sources: verl ``trainer/config/ppo_trainer.yaml`` and ``sft_trainer_engine.yaml`` for the names, ``trainer/ppo`` and
``trainer/sft_trainer.py`` for what they do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from example_sanity.launch.settings import Settings
from example_sanity.parallel.keys import whole_number
from example_sanity.parallel.mesh import Mesh, Sizes
from example_sanity.smoke.outline import Outline
from example_sanity.smoke.steering import Target

PROMPT, RESPONSE, LENGTH = 128, 64, 256
_ROLLOUT = "actor_rollout_ref.rollout"
_OFF = ("-1", "0", "null", "None")


def numbers(mesh: Mesh, sizes: Sizes) -> dict[str, int]:
    """Return the batch chain, the lengths and the rollout for some sizes; the same symbols as the backend's."""
    batch = math.lcm(8, sizes["world"])
    facts = mesh.facts
    micro = {symbol: 1 for symbol in ("mbs", "old_mbs") if symbol in facts and not facts.get("dynamic")}
    if mesh.backend.role == "sft":
        return {**facts, **micro, "b": batch, "length": LENGTH, "tokens": 1024}
    tensor = math.gcd(sizes["gpn"], facts.get("rtp", 1))
    found = {
        "b": batch,
        "m": batch,
        "n": min(2, facts.get("n", 1)),
        "prompt": PROMPT,
        "response": RESPONSE,
        "tokens": 1024,
        "rtp": tensor,
        "rdp": 1,
        "rpp": 1,
        "rep": tensor if facts.get("rep", 1) > 1 else 1,
        "moe_tp": 1,
        **micro,
        **({"max_len": PROMPT + RESPONSE} if "max_len" in facts else {}),
    }
    return {**facts, **found}


_WHY = {
    "b": "a small batch that every rank gets a share of",
    "m": "one update a step",
    "n": "the fewest responses that can be compared",
    "mbs": "one sample at a time fits everywhere",
    "old_mbs": "one sample at a time fits everywhere",
    "prompt": "the prompts are one sentence",
    "response": "a random model has nothing to say",
    "length": "the samples are two sentences",
    "rtp": "the rollout has the GPUs of one node",
    "rdp": "one replica of the rollout a group of GPUs",
    "rpp": "the rollout runs no pipeline",
    "rep": "it follows from tp and dp of the rollout",
    "moe_tp": "experts of the rollout are split by ep alone",
    "max_len": "prompt and response are short",
}
# Left alone where they are small enough already: no batch and no size of ranks depends on them.
_AT_MOST = {"prompt": 2 * PROMPT, "response": RESPONSE, "length": LENGTH}


def targets(plan: Outline) -> Iterator[Target]:
    """Yield everything that a smoke run of verl sets."""
    yield from _batch(plan)
    yield from _files(plan)
    yield from _ends(plan)
    yield from _broken(plan)
    if plan.kind == "rl":
        yield from _rollout(plan)


def _batch(plan: Outline) -> Iterator[Target]:
    for symbol, why in _WHY.items():
        key = plan.key(symbol)
        if key is None or symbol not in plan.scaled.numbers:
            continue
        value = plan.scaled.numbers[symbol]
        if symbol in ("mbs", "old_mbs") and value != 1:
            continue
        least = 1 if symbol in _AT_MOST else value
        fits = plan.between(symbol, least, _AT_MOST.get(symbol, value))
        # A large batch and long texts only take longer; what does not fit together is found when the plan is checked.
        yield Target(key, str(value), why, fits, needed=False, stage=1 if symbol == "rep" else 0)
    if (tokens := plan.key("tokens")) is not None:
        longest = PROMPT + RESPONSE if plan.kind == "rl" else LENGTH
        fits = plan.between("tokens", longest, 32768)
        yield Target(tokens, "1024", "a micro batch holds the longest sequence", fits, needed=False)
    for item in plan.given:
        if item.key.endswith("micro_batch_size_per_gpu") and plan.key("mbs") != item.key:
            yield Target(item.key, "1", _WHY["mbs"], lambda text: text in ("1", "null"), needed=False)
        if item.key.endswith("ppo_mini_batch_size") and plan.key("m") != item.key:
            yield Target(item.key, str(plan.scaled.numbers["m"]), _WHY["m"], needed=False)


def _files(plan: Outline) -> Iterator[Target]:
    for key in model_keys(plan.given, plan.mesh):
        yield Target(key, str(plan.checkpoint), "a tiny random checkpoint")
    train, test = plan.data
    yield Target("data.train_files", str(train), "tiny data in the shape of GSM8K")
    if plan.kind == "rl" or plan.text("data.val_files") not in (None, "null"):
        yield Target("data.val_files", str(test), "tiny data in the shape of GSM8K")
    for key, name in (("data.messages_key", "messages"), ("data.prompt_key", "prompt")):
        if plan.text(key) is not None:
            yield Target(key, name, "what the tiny data calls it")


def model_keys(given: Settings, mesh: Mesh) -> list[str]:
    """Return the settings that name a model: the trained one, and those of critic, reward and teacher."""
    others = (item.key for item in given if item.style == "hydra" and item.key.endswith("model.path"))
    return list(dict.fromkeys((*mesh.backend.models, *others)))


def _ends(plan: Outline) -> Iterator[Target]:
    yield Target("trainer.total_training_steps", str(plan.steps), "enough to see that it learns")
    yield Target("trainer.save_freq", "-1", "no checkpoint is wanted", _off)
    yield Target("trainer.test_freq", "-1", "no validation is wanted", _off, needed=False)
    yield Target("trainer.logger", "[console]", "the verdict is read from the output", _console)
    yield Target("trainer.resume_mode", "disable", "no earlier run may count as this one", needed=False)
    out = str(plan.folder / "out")
    yield Target(
        "trainer.default_local_dir",
        out,
        "what is written all the same is no checkpoint of yours",
        needed=False,
    )


# Ends of settings that a tiny run cannot keep: which values must go, what they become, and why.
_BROKEN = (
    ("use_dist_checkpointing", "True", "False", "there is no converted checkpoint of a tiny model"),
    ("filter_groups.enable", "True", "False", "a random model scores all responses of a prompt the same"),
    ("reward_model.enable", "True", "False", "the tiny data is scored by the rule for GSM8K"),
    ("custom_reward_function.path", "", "null", "the tiny data is scored by the rule for GSM8K"),
    ("custom_cls.path", "", "null", "the tiny data needs no loader of its own"),
    ("trainer.val_only", "True", "False", "there is something to see only in training"),
    ("overlong_buffer_cfg.len", "", str(RESPONSE // 2), "it has to fit into the response"),
    ("overlong_buffer.len", "", str(RESPONSE // 2), "it has to fit into the response"),
)


def _broken(plan: Outline) -> Iterator[Target]:
    for item in plan.given:
        for end, bad, value, why in _BROKEN:
            if item.key.endswith(end) and item.raw not in ("null", value) and bad in ("", item.raw.title()):
                yield Target(item.key, value, why)


def _rollout(plan: Outline) -> Iterator[Target]:
    yield Target("trainer.val_before_train", "False", "no validation is wanted", _false, needed=False)
    yield Target(
        f"{_ROLLOUT}.gpu_memory_utilization",
        "0.2",
        "trainer and rollout share the GPU, and the model is tiny",
        lambda text: (_share(text) or 1.0) <= 0.3,
        needed=False,
    )
    yield Target(
        f"{_ROLLOUT}.enforce_eager", "True", "capturing graphs takes longer than the run", _true, needed=False
    )
    if plan.text("data.gen_batch_size") is not None:
        yield Target("data.gen_batch_size", str(plan.scaled.numbers["b"]), _WHY["b"])


def _off(text: str | None) -> bool:
    return text is None or text in _OFF or (whole_number(text) or 0) < 0


def _false(text: str | None) -> bool:
    return (text or "").lower() == "false"


def _true(text: str | None) -> bool:
    return (text or "").lower() == "true"


def _console(text: str | None) -> bool:
    return (text or "").strip("[]'\" ") == "console"


def _share(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None
