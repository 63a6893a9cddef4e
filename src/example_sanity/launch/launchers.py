"""The command lines of programs that start other programs: which options take a value, and where the program begins.

Sources: torch.distributed.run.get_args_parser, accelerate.commands.launch, deepspeed.launcher.runner, ray job submit
--help, the manual pages of srun, sbatch, mpirun, env, xargs, timeout, nice, numactl, stdbuf and nsys, uv run --help.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import field

if TYPE_CHECKING:
    from collections.abc import Mapping


class Grammar(msgspec.Struct, frozen=True):
    """How a launcher reads its options.

    ``values`` are the long options (without dashes, underscores for dashes) that take a value; ``switches`` those
    that take none. An unknown option takes a value when ``unknown_takes_value``, unless it is written with ``=``.
    ``short`` maps a short option to its long name; ``arity`` counts the words of options with more than one.
    ``bundled`` means that a short option may carry its value (``-n8``). ``skip`` is the number of operands in front
    of the program (``timeout 10 cmd``); ``assignments`` allows ``NAME=value`` there.
    """

    values: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()
    short: dict[str, str] = field(default_factory=dict)
    arity: dict[str, int] = field(default_factory=dict)
    unknown_takes_value: bool = False
    abbreviates: bool = False
    bundled: bool = False
    single_dash_long: bool = False
    skip: int = 0
    assignments: bool = False


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TORCHRUN = Grammar(
    values=_set(
        "nnodes nproc_per_node rdzv_backend rdzv_endpoint rdzv_id rdzv_conf max_restarts monitor_interval "
        "start_method event_log_handler role log_dir redirects tee local_ranks_filter node_rank master_addr "
        "master_port local_addr logs_specs numa_binding signals_to_handle duplicate_stdout_filters "
        "duplicate_stderr_filters"
    ),
    switches=_set("standalone module no_python run_path use_env virtual_local_rank help"),
    short={"m": "module", "r": "redirects", "t": "tee", "h": "help"},
    abbreviates=True,
)
_ACCELERATE = Grammar(
    switches=_set(
        "module no_python quiet debug cpu multi_gpu tpu ipex use_xpu use_deepspeed use_fsdp use_megatron_lm "
        "use_parallelism_config use_tpu tpu_use_cluster no_tpu_use_cluster tpu_use_sudo same_network standalone "
        "dynamo_use_fullgraph dynamo_use_dynamic dynamo_use_regional_compilation enable_cpu_affinity help"
    ),
    short={"m": "module", "q": "quiet", "h": "help"},
    unknown_takes_value=True,
)
_DEEPSPEED = Grammar(
    values=_set(
        "hostfile include exclude num_nodes min_elastic_nodes max_elastic_nodes num_gpus master_port master_addr "
        "node_rank launcher launcher_args autotuning bind_core_list ssh_port venv_script enable_each_rank_log"
    ),
    switches=_set(
        "module no_python no_local_rank no_ssh no_ssh_check force_multi save_pid elastic_training bind_cores_to_rank help"
    ),
    short={"H": "hostfile", "i": "include", "e": "exclude", "h": "help"},
)
_RAY_SUBMIT = Grammar(
    values=_set(
        "address job_id submission_id runtime_env runtime_env_json working_dir metadata_json entrypoint_num_cpus "
        "entrypoint_num_gpus entrypoint_memory entrypoint_resources verify headers log_style log_color"
    ),
    switches=_set("no_wait verbose help"),
    short={"v": "verbose"},
)
_SLURM_SHORT = {
    "A": "account",
    "c": "cpus_per_task",
    "C": "constraint",
    "D": "chdir",
    "d": "dependency",
    "e": "error",
    "G": "gpus",
    "i": "input",
    "J": "job_name",
    "l": "label",
    "m": "distribution",
    "N": "nodes",
    "n": "ntasks",
    "o": "output",
    "p": "partition",
    "q": "qos",
    "r": "relative",
    "t": "time",
    "u": "unbuffered",
    "v": "verbose",
    "W": "wait",
    "w": "nodelist",
    "x": "exclude",
    "H": "hold",
    "k": "no_kill",
    "K": "kill_on_bad_exit",
    "O": "overcommit",
    "Q": "quiet",
    "s": "oversubscribe",
    "Z": "no_allocate",
    "a": "array",
    "L": "licenses",
    "F": "nodefile",
    "B": "extra_node_info",
    "T": "threads",
    "X": "disable_status",
}
_SLURM = Grammar(
    switches=_set(
        "label unbuffered verbose hold no_kill kill_on_bad_exit overcommit quiet oversubscribe no_allocate exclusive "
        "overlap pty exact whole contiguous spread_job use_min_nodes disable_status preserve_env multi_prog "
        "debugger_test compress nice propagate requeue no_requeue parsable test_only reboot ignore_pbs "
        "container_mount_home no_container_mount_home container_writable container_readonly container_remap_root "
        "no_container_remap_root container_entrypoint no_container_entrypoint help version"
    ),
    short=_SLURM_SHORT,
    unknown_takes_value=True,
    bundled=True,
)
_MPIRUN = Grammar(
    switches=_set(
        "allow_run_as_root oversubscribe nooversubscribe tag_output timestamp_output display_map "
        "display_allocation report_bindings verbose quiet bynode byslot bycore bind_to_core bind_to_none "
        "bind_to_socket nolocal forward_signals enable_recovery v q"
    ),
    short={"n": "np", "c": "np", "H": "host"},
    arity={"mca": 2, "gmca": 2, "genv": 2, "env": 2, "pmixmca": 2},
    unknown_takes_value=True,
    single_dash_long=True,
)
_UV = Grammar(
    switches=_set(
        "frozen locked no_sync all_packages all_extras all_groups no_dev dev only_dev isolated active exact no_editable "
        "no_env_file script gui_script module offline no_cache quiet verbose no_config no_project native_tls "
        "managed_python no_managed_python no_python_downloads no_progress refresh reinstall upgrade no_index "
        "no_build no_binary compile_bytecode no_sources no_default_groups help"
    ),
    short={
        "m": "module",
        "p": "python",
        "s": "script",
        "q": "quiet",
        "v": "verbose",
        "n": "no_cache",
        "w": "with",
    },
    unknown_takes_value=True,
)
PYTHON = Grammar(
    values=_set("check_hash_based_pycs W X"),
    switches=_set("help version help_env help_xoptions help_all"),
    bundled=True,
)

# Launchers that place processes; the first word or two name them.
LAUNCHERS: dict[str, Grammar] = {
    "torchrun": _TORCHRUN,
    "accelerate": _ACCELERATE,
    "deepspeed": _DEEPSPEED,
    "ray": _RAY_SUBMIT,
    "srun": _SLURM,
    "sbatch": _SLURM,
    "mpirun": _MPIRUN,
    "uv": _UV,
}
# Python modules that are such launchers.
LAUNCHER_MODULES = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "torch.distributed.elastic.run": "torchrun",
    "accelerate.commands.launch": "accelerate",
    "deepspeed": "deepspeed",
    "deepspeed.launcher.runner": "deepspeed",
    "accelerate": "accelerate",
}
# The launcher's subcommand, where it has some; the others start nothing.
SUBCOMMANDS: dict[str, tuple[str, ...]] = {
    "accelerate": ("launch",),
    "ray": ("job", "submit"),
    "uv": ("run",),
}

# Commands that run their operands and change only how.
WRAPPERS: dict[str, Grammar] = {
    "env": Grammar(
        values=_set("unset chdir split_string"),
        switches=_set("ignore_environment null debug"),
        short={"i": "ignore_environment", "u": "unset", "C": "chdir", "S": "split_string"},
        assignments=True,
    ),
    "nohup": Grammar(),
    "exec": Grammar(values=_set("a"), bundled=True),
    "command": Grammar(),
    "time": Grammar(
        values=_set("format output"),
        switches=_set("append verbose portability"),
        short={"f": "format", "o": "output"},
    ),
    "timeout": Grammar(
        values=_set("signal kill_after"),
        switches=_set("preserve_status foreground verbose"),
        short={"s": "signal", "k": "kill_after"},
        skip=1,
    ),
    "nice": Grammar(values=_set("adjustment"), short={"n": "adjustment"}, bundled=True),
    "ionice": Grammar(
        values=_set("class classdata"),
        switches=_set("ignore"),
        short={"c": "class", "n": "classdata"},
        bundled=True,
    ),
    "numactl": Grammar(
        values=_set("cpunodebind physcpubind membind interleave preferred touch shm file length offset"),
        switches=_set("localalloc all balancing"),
        short={
            "N": "cpunodebind",
            "C": "physcpubind",
            "m": "membind",
            "i": "interleave",
            "l": "localalloc",
            "a": "all",
        },
        bundled=True,
    ),
    "taskset": Grammar(
        switches=_set("all_tasks cpu_list"), short={"c": "cpu_list", "a": "all_tasks"}, skip=1
    ),
    "setsid": Grammar(switches=_set("ctty fork wait"), short={"w": "wait", "c": "ctty", "f": "fork"}),
    "stdbuf": Grammar(
        values=_set("input output error"), short={"i": "input", "o": "output", "e": "error"}, bundled=True
    ),
    "xargs": Grammar(
        values=_set("arg_file delimiter max_args max_lines max_procs max_chars replace E"),
        switches=_set("null no_run_if_empty verbose interactive exit open_tty"),
        short={
            "a": "arg_file",
            "d": "delimiter",
            "n": "max_args",
            "L": "max_lines",
            "P": "max_procs",
            "s": "max_chars",
            "I": "replace",
            "0": "null",
            "r": "no_run_if_empty",
            "t": "verbose",
        },
        bundled=True,
    ),
    "sudo": Grammar(
        values=_set("user group host chdir prompt"),
        switches=_set("preserve_env login non_interactive set_home stdin background"),
        short={
            "u": "user",
            "g": "group",
            "h": "host",
            "D": "chdir",
            "E": "preserve_env",
            "n": "non_interactive",
        },
        assignments=True,
    ),
    "nsys": Grammar(unknown_takes_value=True, switches=_set("help version")),
    "ncu": Grammar(unknown_takes_value=True, switches=_set("help version force_overwrite f")),
    "catchsegv": Grammar(),
    "poetry": Grammar(),
    "pdm": Grammar(),
    "pixi": Grammar(unknown_takes_value=True, switches=_set("frozen locked")),
    "conda": Grammar(
        values=_set("name prefix cwd"),
        switches=_set("no_capture_output live_stream verbose dev debug_wrapper_scripts"),
        short={"n": "name", "p": "prefix", "v": "verbose"},
    ),
}
WRAPPER_SUBCOMMANDS: dict[str, tuple[str, ...]] = {
    "nsys": ("profile",),
    "poetry": ("run",),
    "pdm": ("run",),
    "pixi": ("run",),
    "conda": ("run",),
}
# Python modules that run another program in their own process: their options, then "-m module" or a file.
PYTHON_WRAPPERS: dict[str, Grammar] = {
    "coverage": Grammar(
        values=_set("rcfile source include omit context data_file concurrency"),
        switches=_set("branch parallel_mode append pylib timid"),
        short={"p": "parallel_mode", "a": "append"},
    ),
    "debugpy": Grammar(
        values=_set("listen connect log_to configure_a"),
        arity={"configure_": 1},
        switches=_set("wait_for_client log_to_stderr"),
    ),
    "pdb": Grammar(values=_set("c")),
    "cProfile": Grammar(values=_set("o s")),
    "profile": Grammar(values=_set("o s")),
    "viztracer": Grammar(unknown_takes_value=True),
    "memray": Grammar(values=_set("o output"), switches=_set("live native follow_fork force f")),
}
# Modules of tools: they train nothing.
TOOL_MODULES = _set(
    "pip venv ensurepip virtualenv http.server json.tool build compileall py_compile site sysconfig zipfile tarfile "
    "timeit unittest pytest pytest.__main__ ruff mypy black isort flake8 pylint pre_commit twine setuptools wheel "
    "this calendar platform base64 webbrowser tabnanny tokenize ast dis inspect trace idlelib pydoc doctest"
)

_added: list[str] = []


def use(further: Mapping[str, Grammar]) -> None:
    """Recognise ``further`` launchers besides our own, and no others; ``"tool run"`` is one with a subcommand.

    This holds for the process, since a launcher that is installed is one for every project.
    """
    for name in _added:
        del LAUNCHERS[name]
        SUBCOMMANDS.pop(name, None)
    _added.clear()
    for words, grammar in further.items():
        name, *subcommand = words.split()
        if name not in LAUNCHERS:
            _added.append(name)
            LAUNCHERS[name] = grammar
            SUBCOMMANDS[name] = tuple(subcommand)
