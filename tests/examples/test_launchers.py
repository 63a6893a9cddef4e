"""The reference launchers, run in real bash: what they launch, what they print, what they refuse."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

EXAMPLES = Path(__file__).parents[2] / "examples"

SFT = "sft/gsm8k/run_deepseek_v4_megatron_lite.sh"
GRPO_DEEPSEEK = "grpo_trainer/run_deepseek_v4_megatron_lite.sh"
GRPO_KIMI_GLM = "grpo_trainer/run_kimi_k2_6_glm5_1_megatron_lite.sh"
GRPO_QWEN = "grpo_trainer/run_qwen3_5_35b_megatron_lite.sh"
LAUNCHERS = (SFT, GRPO_DEEPSEEK, GRPO_KIMI_GLM, GRPO_QWEN)

# What a user has to give: a checkpoint, and where this node stands when torchrun starts on several.
REQUIRED = {"MODEL_PATH": "/models/checkpoint", "NODE_RANK": "3", "MASTER_ADDR": "node0"}

STUB = """#!{bash}
printf '%s\\0' "${{0##*/}}" "$@" > "${{0%/*}}/argv"
printf '%s' "${{PYTHONPATH}}" > "${{0%/*}}/pythonpath"
"""


@dataclass(frozen=True)
class Variant:
    """A launcher, the choice of its variant, the mesh that it is documented with, and limits of the model.

    ``experts``, ``heads`` and ``kv`` are the model's; ``max_tp`` is 1 where Megatron Lite has no tensor parallelism.
    """

    launcher: str
    environment: dict[str, str]
    model: str
    mesh: dict[str, int]
    experts: int
    heads: int
    kv: int | None = None
    max_tp: int = 1

    @property
    def name(self) -> str:
        return f"{self.launcher.split('/')[0]}-{self.model}"


FLASH_MESH = {"ngpu": 128, "pp": 4, "tp": 1, "cp": 4, "dp": 8, "ep": 8, "etp": 1, "edp": 4}
PRO_MESH = {"ngpu": 512, "pp": 8, "tp": 1, "cp": 4, "dp": 16, "ep": 16, "etp": 1, "edp": 4}
KIMI_GLM_MESH = {"ngpu": 256, "pp": 8, "tp": 1, "cp": 8, "dp": 4, "ep": 8, "etp": 1, "edp": 4}
QWEN_MESH = {"ngpu": 8, "pp": 1, "tp": 1, "cp": 8, "dp": 1, "ep": 8, "etp": 1, "edp": 1}

VARIANTS = (
    Variant(SFT, {"MODEL_VARIANT": "flash"}, "deepseek_v4_flash", FLASH_MESH, 256, 64),
    Variant(SFT, {"MODEL_VARIANT": "pro"}, "deepseek_v4_pro", PRO_MESH, 384, 128),
    Variant(GRPO_DEEPSEEK, {"MODEL_VARIANT": "flash"}, "deepseek_v4_flash", FLASH_MESH, 256, 64),
    Variant(GRPO_DEEPSEEK, {"MODEL_VARIANT": "pro"}, "deepseek_v4_pro", PRO_MESH, 384, 128),
    Variant(GRPO_KIMI_GLM, {"MODEL_VARIANT": "kimi_k2_6"}, "kimi_k2_6", KIMI_GLM_MESH, 384, 64, max_tp=64),
    Variant(GRPO_KIMI_GLM, {"MODEL_VARIANT": "glm5_1"}, "glm5_1", KIMI_GLM_MESH, 256, 64),
    Variant(GRPO_QWEN, {}, "qwen3_5_35b", QWEN_MESH, 256, 16, kv=2, max_tp=2),
)
GRPO_VARIANTS = tuple(variant for variant in VARIANTS if variant.launcher != SFT)
by_name = pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
by_launcher = pytest.mark.parametrize("launcher", LAUNCHERS)


@dataclass(frozen=True)
class Run:
    """The outcome of one run; ``argv`` is empty when nothing was launched."""

    status: int
    stdout: str
    stderr: str
    argv: tuple[str, ...]
    pythonpath: str

    @property
    def settings(self) -> dict[str, str]:
        """The Hydra overrides by key without ``+``."""
        words = (word.lstrip("+").partition("=") for word in self.argv if "=" in word)
        return {key: value for key, _, value in words}

    @property
    def mesh(self) -> dict[str, str]:
        """The fields of the printed mesh line; empty when it was not printed."""
        line = next((line for line in self.stdout.splitlines() if line.startswith("MLITE_MESH ")), "")
        return dict(field.split("=", 1) for field in line.split()[1:])

    @property
    def complaint(self) -> str:
        """What the launcher said on stderr, without the trace of ``set -x``."""
        return "\n".join(line for line in self.stderr.splitlines() if not line.startswith("+"))


def run(launcher: str, environment: dict[str, str], *arguments: str) -> Run:
    """Run ``launcher`` in an otherwise empty environment; its PATH holds the stubs and nothing else."""
    bash = shutil.which("bash")
    assert bash is not None
    with tempfile.TemporaryDirectory() as folder:
        for name in ("python3", "torchrun"):
            stub = Path(folder, name)
            stub.write_text(STUB.format(bash=bash))
            stub.chmod(0o755)
        done = subprocess.run(
            [bash, str(EXAMPLES / launcher), *arguments],
            env={"HOME": "/home/user", "PATH": folder, **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        argv = Path(folder, "argv")
        words = tuple(argv.read_text().split("\0")[:-1]) if argv.exists() else ()
        pythonpath = Path(folder, "pythonpath").read_text() if words else ""
    return Run(done.returncode, done.stdout, done.stderr, words, pythonpath)


def engine_sizes(launched: Run) -> dict[str, int]:
    """Return the sizes that Megatron Lite receives, and the world size as the trainer computes it."""
    prefix = "engine." if launched.argv[0] == "torchrun" else "actor_rollout_ref.actor.engine."
    sizes = {key: int(launched.settings[prefix + key]) for key in ("tp", "pp", "vpp", "cp", "ep", "etp")}
    given_settings = launched.settings
    sizes["ngpu"] = int(given_settings["trainer.nnodes"]) * int(given_settings["trainer.n_gpus_per_node"])
    return sizes


def knobs(launcher: str) -> set[str]:
    """Return the names assigned between ``<name>`` and ``end <name>`` markers."""
    names: set[str] = set()
    inside = False
    for line in (EXAMPLES / launcher).read_text().splitlines():
        marker = re.fullmatch(r"#{5,} (.+?) #{5,}", line)
        if marker:
            inside = marker[1] in ("mlite backend knobs", "user-adjustable")
        elif inside and (match := re.match(r"\s*([A-Z_0-9]+)=", line)):
            names.add(match[1])
    return names


@pytest.mark.parametrize("optimizer", ["fsdp2", "dist_opt"])
@by_name
def test_each_variant_launches_the_documented_mesh(variant: Variant, optimizer: str) -> None:
    launched = run(variant.launcher, {**REQUIRED, **variant.environment, "OPTIMIZER": optimizer})
    assert launched.status == 0, launched.complaint
    assert launched.mesh == {
        "model": variant.model,
        "optimizer": optimizer,
        **{key: str(size) for key, size in variant.mesh.items()},
    }
    expected = {key: size for key, size in variant.mesh.items() if key not in ("dp", "edp")}
    assert engine_sizes(launched) == {**expected, "vpp": 1}


@by_name
def test_each_variant_keeps_the_limits_of_its_model(variant: Variant) -> None:
    sizes = engine_sizes(run(variant.launcher, {**REQUIRED, **variant.environment}))
    assert variant.experts % sizes["ep"] == 0
    assert variant.heads % sizes["tp"] == 0
    assert sizes["tp"] <= variant.max_tp
    assert sizes["etp"] == 1
    if variant.kv is not None:
        assert variant.kv % sizes["tp"] == 0


@pytest.mark.parametrize("variant", GRPO_VARIANTS, ids=lambda variant: variant.name)
def test_the_first_update_has_whole_batches(variant: Variant) -> None:
    # verl checks (mini batch * responses) % dp only after the first rollout was paid for.
    given_settings = run(variant.launcher, {**REQUIRED, **variant.environment}).settings
    actor = "actor_rollout_ref.actor."
    batch = int(given_settings["data.train_batch_size"])
    mini = int(given_settings[actor + "ppo_mini_batch_size"])
    responses = int(given_settings["actor_rollout_ref.rollout.n"])
    assert mini * responses % variant.mesh["dp"] == 0
    assert batch % mini == 0
    longest = sum(int(given_settings[f"data.max_{part}_length"]) for part in ("prompt", "response"))
    assert int(given_settings[actor + "ppo_max_token_len_per_gpu"]) * variant.mesh["cp"] >= longest


@pytest.mark.parametrize("variant", GRPO_VARIANTS, ids=lambda variant: variant.name)
def test_the_rollout_replicas_fill_whole_nodes_and_the_world(variant: Variant) -> None:
    given_settings = run(variant.launcher, {**REQUIRED, **variant.environment}).settings
    rollout = "actor_rollout_ref.rollout."
    tp = int(given_settings[rollout + "tensor_model_parallel_size"])
    dp = int(given_settings.get(rollout + "data_parallel_size", "1"))
    ep = int(given_settings.get(rollout + "expert_parallel_size", "1"))
    assert variant.mesh["ngpu"] % (tp * dp) == 0
    assert 8 % tp == 0
    assert 8 % (tp * dp) == 0 or (tp * dp) % 8 == 0
    assert ep in (1, tp * dp)
    assert variant.heads % tp == 0
    assert variant.experts % ep == 0


@pytest.mark.parametrize("model", ["flash", "pro"])
def test_the_sft_batch_and_token_budget_fit_the_mesh(model: str) -> None:
    launched = run(SFT, {**REQUIRED, "MODEL_VARIANT": model})
    assert int(launched.settings["data.train_batch_size"]) % int(launched.mesh["dp"]) == 0
    budget = int(launched.settings["data.max_token_len_per_gpu"]) * int(launched.mesh["cp"])
    assert budget >= int(launched.settings["data.max_length"])


@by_launcher
def test_arguments_come_last_and_unchanged(launcher: str) -> None:
    arguments = ("trainer.total_training_steps=2", "+note=two words", "")
    assert run(launcher, REQUIRED, *arguments).argv[-3:] == arguments


@by_launcher
def test_megatron_lite_comes_first_on_the_python_path(launcher: str) -> None:
    roots = {"MLITE_ROOT": "/src/mlite", "VERL_ROOT": "/src/verl", "PYTHONPATH": "/site"}
    lite = "/src/mlite/experimental/lite"
    path = f"{lite}/examples/verl:{lite}:/src/mlite"
    assert run(launcher, {**REQUIRED, **roots}).pythonpath == f"{path}:/src/verl:/site"
    # An empty element would put the current folder on the path.
    assert run(launcher, {**REQUIRED, "MLITE_ROOT": "/src/mlite"}).pythonpath == path


@pytest.mark.parametrize("launcher", [GRPO_DEEPSEEK, GRPO_KIMI_GLM, GRPO_QWEN])
def test_ray_workers_get_the_same_python_path(launcher: str) -> None:
    launched = run(launcher, REQUIRED)
    assert launched.settings["ray_kwargs.ray_init.runtime_env.env_vars.PYTHONPATH"] == launched.pythonpath


@by_launcher
def test_the_optimizer_reaches_the_backend(launcher: str) -> None:
    fsdp2, dist_opt = (run(launcher, {**REQUIRED, "OPTIMIZER": name}) for name in ("fsdp2", "dist_opt"))
    prefix = "" if launcher == SFT else "actor_rollout_ref.actor."
    assert fsdp2.settings[f"{prefix}engine.impl_cfg.optimizer"] == "fsdp2"
    assert dist_opt.settings[f"{prefix}engine.impl_cfg.optimizer"] == "dist_opt"
    precision_aware = f"{prefix}optim.override_optimizer_config.use_precision_aware_optimizer"
    assert precision_aware not in fsdp2.settings
    assert dist_opt.settings[precision_aware] == "True"


def test_dapo_options_reach_the_trainer() -> None:
    options = {"CLIP_RATIO_HIGH": "0.3", "FILTER_GROUPS": "False", "FILTER_GROUPS_METRIC": "score"}
    default, changed = (
        run(GRPO_DEEPSEEK, REQUIRED).settings,
        run(GRPO_DEEPSEEK, {**REQUIRED, **options}).settings,
    )
    high, groups = "actor_rollout_ref.actor.clip_ratio_high", "algorithm.filter_groups"
    assert (default[high], default[f"{groups}.enable"], default[f"{groups}.metric"]) == (
        "0.28",
        "True",
        "acc",
    )
    assert (changed[high], changed[f"{groups}.enable"], changed[f"{groups}.metric"]) == (
        "0.3",
        "False",
        "score",
    )


@by_launcher
def test_every_knob_can_be_overridden_and_is_used(launcher: str) -> None:
    choices = {"MODEL_VARIANT", "OPTIMIZER", "NNODES", "NDEVICES_PER_NODE", "TP", "PP", "EP", "CP", "ETP"}
    values = {name: f"value-of-{name}" for name in knobs(launcher) - choices}
    numeric = sorted(name for name in values if name.startswith(("MAX_", "ROLLOUT_")))
    values |= {name: str(1001 + place) for place, name in enumerate(numeric)}
    launched = run(launcher, values)
    assert launched.status == 0, launched.complaint
    seen = "\0".join((*launched.argv, launched.pythonpath))
    assert [name for name, value in sorted(values.items()) if value not in seen] == []


@pytest.mark.parametrize(
    ("launcher", "sizes", "complaint"),
    [
        (SFT, {"NNODES": "1"}, "NGPU=8 is not a multiple of TP*CP*PP=16"),
        (SFT, {"CP": "1", "EP": "64"}, "NGPU=128 is not a multiple of ETP*EP*PP=256"),
        (GRPO_DEEPSEEK, {"CP": "3"}, "NGPU=128 is not a multiple of TP*CP*PP=12"),
        (GRPO_DEEPSEEK, {"EP": "3"}, "NGPU=128 is not a multiple of ETP*EP*PP=12"),
        (GRPO_KIMI_GLM, {"NNODES": "8", "CP": "16"}, "NGPU=64 is not a multiple of TP*CP*PP=128"),
        (GRPO_KIMI_GLM, {"TP": "2", "CP": "32"}, "NGPU=256 is not a multiple of TP*CP*PP=512"),
        (GRPO_KIMI_GLM, {"ETP": "8"}, "NGPU=256 is not a multiple of ETP*EP*PP=512"),
        (GRPO_QWEN, {"PP": "2", "EP": "4"}, "NGPU=8 is not a multiple of TP*CP*PP=16"),
        (GRPO_QWEN, {"CP": "2", "EP": "16"}, "NGPU=8 is not a multiple of ETP*EP*PP=16"),
        (GRPO_QWEN, {"CP": "0"}, "CP=0 is not a positive integer"),
        (GRPO_QWEN, {"TP": "two"}, "TP=two is not a positive integer"),
        (GRPO_QWEN, {"PP": "-1"}, "PP=-1 is not a positive integer"),
        (GRPO_QWEN, {"EP": "08"}, "EP=08 is not a positive integer"),
        (GRPO_QWEN, {"OPTIMIZER": "adam"}, "Unknown OPTIMIZER=adam: use fsdp2 or dist_opt"),
        (GRPO_DEEPSEEK, {"MODEL_VARIANT": "max"}, "Unknown MODEL_VARIANT=max: use flash or pro"),
    ],
)
def test_a_wrong_choice_stops_with_a_message(launcher: str, sizes: dict[str, str], complaint: str) -> None:
    refused = run(launcher, {**REQUIRED, **sizes})
    assert (refused.status, refused.argv, refused.mesh) == (1, (), {})
    assert complaint in refused.complaint


@pytest.mark.parametrize(
    ("launcher", "sizes", "dp", "edp"),
    [
        (GRPO_KIMI_GLM, {"CP": "4"}, 8, 4),
        (GRPO_KIMI_GLM, {"EP": "32"}, 4, 1),
        (GRPO_KIMI_GLM, {"TP": "4", "CP": "1", "EP": "32"}, 8, 1),
        (GRPO_QWEN, {"CP": "1"}, 8, 1),
        (GRPO_QWEN, {"TP": "2", "CP": "1"}, 4, 1),
        (GRPO_QWEN, {"EP": "4"}, 1, 2),
    ],
)
def test_a_legal_mesh_with_ep_other_than_cp_prints_the_real_sizes(
    launcher: str, sizes: dict[str, str], dp: int, edp: int
) -> None:
    launched = run(launcher, {**REQUIRED, **sizes})
    assert (launched.mesh["dp"], launched.mesh["edp"]) == (str(dp), str(edp))


SIZES = st.sampled_from([1, 2, 3, 4, 6, 8, 16])


@by_launcher
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_the_guard_is_exactly_the_rule_of_megatron_lite(launcher: str, data: st.DataObject) -> None:
    # Megatron Lite: world % (tp*cp*pp) and world % (etp*ep*pp), nothing else.
    names = {"TP", "PP", "EP", "CP", "ETP", "NNODES"} & knobs(launcher)
    chosen = {name: data.draw(SIZES, label=name) for name in sorted(names)}
    tp, etp = chosen.get("TP", 1), chosen.get("ETP", 1)
    world = chosen["NNODES"] * 8
    dense, expert = tp * chosen["CP"] * chosen["PP"], etp * chosen["EP"] * chosen["PP"]
    outcome = run(launcher, {**REQUIRED, **{name: str(size) for name, size in chosen.items()}})
    assert (outcome.status == 0) == (world % dense == 0 and world % expert == 0)
    if outcome.status == 0:
        assert (outcome.mesh["dp"], outcome.mesh["edp"]) == (str(world // dense), str(world // expert))


@by_launcher
def test_a_checkpoint_is_required(launcher: str) -> None:
    refused = run(launcher, {"NODE_RANK": "0", "MASTER_ADDR": "node0"})
    assert refused.status != 0
    assert refused.argv == ()
    assert "MODEL_PATH: set it to the directory of the checkpoint" in refused.complaint


def test_sft_on_several_nodes_must_know_where_it_runs() -> None:
    model = {"MODEL_PATH": "/m"}
    assert "NODE_RANK: set it to the rank of this node" in run(SFT, model).complaint
    assert "MASTER_ADDR: set it to the address" in run(SFT, {**model, "NODE_RANK": "0"}).complaint
    slurm = run(SFT, {**model, "SLURM_NODEID": "7", "MASTER_ADDR": "node0"})
    assert "--node_rank=7" in slurm.argv


def test_sft_on_one_node_needs_no_address() -> None:
    one = run(SFT, {"MODEL_PATH": "/m", "NNODES": "1", "PP": "1"})
    assert {"--nnodes=1", "--node_rank=0", "--master_addr=127.0.0.1"} < set(one.argv)
    assert (one.mesh["dp"], one.mesh["edp"]) == ("2", "1")


def test_the_list_in_the_readme_is_what_the_launchers_print() -> None:
    listed: dict[tuple[str, str], list[str]] = {}
    launcher = ""
    for line in (EXAMPLES / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 10 and cells[2].isdigit():
            launcher = cells[0][cells[0].find("](") + 2 : -1] or launcher
            listed[launcher, cells[1]] = cells[2:]
    keys = ("ngpu", "tp", "pp", "cp", "ep", "etp", "dp", "edp")
    assert listed == {
        (variant.launcher, variant.environment.get("MODEL_VARIANT", "")): [
            str(variant.mesh[key]) for key in keys
        ]
        for variant in VARIANTS
    }


def test_every_launcher_is_tested_here() -> None:
    found = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.sh")}
    assert found == set(LAUNCHERS)


def test_every_variable_is_documented() -> None:
    page = (EXAMPLES.parent / "docs" / "advance" / "megatron_lite_backend.rst").read_text()
    cells = "\n".join(line for line in page.splitlines() if line.startswith("   * - "))
    documented = set(re.findall(r"``([A-Z_0-9]+)``", cells))
    assert documented == {name for launcher in LAUNCHERS for name in knobs(launcher)}
