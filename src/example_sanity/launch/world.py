"""The world that a launcher sees: which commands are recorded, what probes answer, which commands do nothing.

The default world is one node with eight NVIDIA GPUs, no other accelerator, and a clock that stands still. Both
engines (sandbox and real bash) ask :func:`respond`, so that a difference between them is one of the shell.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from example_sanity.core.regex import regex
from example_sanity.launch.scenario import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


HOME = "/home/user"
HOST = "node0"
LOCALE = {"LANG": "C.UTF-8"}
GPUS = 8
NOW = 1_767_225_600  # 2026-01-01T00:00:00Z: experiment names with a date stay the same from run to run
PATH = "/usr/local/bin:/usr/bin:/bin"
STUB_FOLDER = "/usr/local/bin"

BUILTINS = _words(""". : [ [[ alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare
    dirs disown echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help history
    if in jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt
    source suspend test then time times trap true type typeset ulimit umask unalias unset until wait while do done { } !
    """)

# What the sandbox itself runs on the virtual file system, and real bash finds as coreutils.
NATIVE = _words("""awk gawk mawk base64 bash basename bzip2 cat chgrp chmod chown cksum cmp column comm cp cut diff dirname du egrep
    env expand expr factor fgrep find fmt fold getconf grep gunzip gzip head join ln ls md5sum mkdir mkfifo mktemp mv nl
    nohup od paste printenv readlink realpath rev rm rmdir sed seq sh sha1sum sha256sum shuf sort split stat sum sync
    tac tail tar tee timeout touch tr truncate tsort unexpand uniq unlink unzip wc which xargs xxd zip nice""")

RECORDED = _words("""accelerate apptainer apt apt-get aws bazel blobfuse cmake conda curl deepspeed docker gcloud git gsutil hf
    huggingface-cli jq kubectl make mamba modelscope mpiexec mpirun ncu ninja node npm nsys numactl pdsh perl pip pip3
    pkill poetry pytest python python2 python3 ray rsync salloc sbatch scancel scontrol scp sglang sinfo squeue srun
    ssh sudo swanlab systemctl torchrun uv vllm wandb wget yq""")

OTHER_OUTPUT = "7\n"  # what commands of unknown output print another time

PROBES = _words("nvidia-smi lspci ip ifconfig lscpu free df ps pgrep nc telnet ping lsof ibstat ibdev2netdev")

# Commands that only prefix another one; real bash has no use for a stub of them and the sandbox has none of its own.
PREFIXES = _words("setsid stdbuf taskset ionice chrt unbuffer caffeinate")

# Answered, never recorded: they say who and when we are, or wait.
SILENT = _words(
    "arch clear date hostname id killall logname nproc reset sleep stty tput tty uname uptime users whoami"
)

# Tools whose absence is what a launcher tests for. A scenario that answers one of them makes it exist.
ABSENT = _words("npu-smi rocm-smi rocminfo amd-smi hl-smi xpu-smi mthreads-gmi ixsmi mx-smi")

PYTHON = regex(r"(?:^|.*/)python(?:[23](?:\.\d+)?)?$")
_OTHER_DEVICE = regex(r"\b(torch_npu|torch_xla|habana_frameworks|torch_musa|intel_extension_for_pytorch)\b")
_TOPOLOGY_LINK = "NV18"

_GPU_FIELDS = {
    "name": "NVIDIA H100 80GB HBM3",
    "gpu_name": "NVIDIA H100 80GB HBM3",
    "count": str(GPUS),
    "memory.total": "81559 MiB",
    "memory.free": "81078 MiB",
    "memory.used": "0 MiB",
    "compute_cap": "9.0",
    "driver_version": "570.86.15",
    "utilization.gpu": "0 %",
}


def names(probes: Mapping[str, Answer]) -> frozenset[str]:
    """Return every command name that exists in the world by default or because ``probes`` answers it."""
    answered = {key.split(" ", 1)[0] for key, answer in probes.items() if answer.status != 127}
    return frozenset({*RECORDED, *PROBES, *SILENT, *PREFIXES, *answered} - BUILTINS)


def absent(probes: Mapping[str, Answer]) -> frozenset[str]:
    """Return the names that do not exist: accelerator tools of other vendors that no probe answers."""
    there = {key.split(" ", 1)[0] for key, answer in probes.items() if answer.status != 127}
    gone = {key for key, answer in probes.items() if answer.status == 127}
    return (ABSENT - there) | gone


def recorded(argv: Sequence[str]) -> bool:
    """Whether a command belongs into the record: everything but what only says who and when we are."""
    return argv[0].rsplit("/", 1)[-1] not in SILENT


def respond(argv: Sequence[str], probes: Mapping[str, Answer], unknown: str = "") -> Answer:
    """Return what a command prints and its status: the scenario's answer where it has one, else the default's.

    The longest matching key of ``probes`` wins; a key matches the words joined by spaces, or a prefix of them that
    ends between two words (or inside ``-c`` code where a name ends). All other commands print
    ``unknown`` and succeed; with an ``unknown`` that is not empty the clock, the host and its cores are others, too.
    """
    base = (argv[0].rsplit("/", 1)[-1], *argv[1:])
    for words in (tuple(argv), base):
        answer = _chosen(" ".join(words), probes)
        if answer is not None:
            return answer
    return _default(base, unknown)


def is_known(argv: Sequence[str], probes: Mapping[str, Answer]) -> bool:
    """Return whether a command answers the same on another machine and another day."""
    return respond(argv, probes) == respond(argv, probes, OTHER_OUTPUT)


def _chosen(line: str, probes: Mapping[str, Answer]) -> Answer | None:
    fitting = [key for key in probes if line.startswith(key) and not re.match(r"[\w.-]", line[len(key) :])]
    return probes[max(fitting, key=len)] if fitting else None


def _default(argv: Sequence[str], unknown: str) -> Answer:
    name = argv[0]
    if name in ABSENT:
        return Answer(status=127)
    if unknown and name in _OTHERWISE:
        return _OTHERWISE[name](argv)
    if name in _FIXED:
        return _FIXED[name]
    special = _SPECIAL[name](argv) if name in _SPECIAL else None
    if special is not None:
        return special
    if PYTHON.match(name) and "-c" in argv and _OTHER_DEVICE.search(" ".join(argv)):
        return Answer(status=1)
    return Answer() if name in SILENT or name in PROBES else Answer(unknown)


def _nvidia_smi(argv: Sequence[str]) -> Answer:
    query = next((word.split("=", 1)[1] for word in argv if word.startswith("--query-gpu=")), None)
    if query is not None:
        return Answer(_gpu_table(query.split(","), argv))
    if "-L" in argv or "--list-gpus" in argv:
        return Answer(
            "".join(f"GPU {i}: NVIDIA H100 80GB HBM3 (UUID: GPU-{i:08x}-0000)\n" for i in range(GPUS))
        )
    if "topo" in argv:
        return Answer(_topology())
    return Answer("NVIDIA-SMI 570.86.15    Driver Version: 570.86.15    CUDA Version: 12.8\n")


def _gpu_table(fields: Sequence[str], argv: Sequence[str]) -> str:
    style = next((word.split("=", 1)[1] for word in argv if word.startswith("--format=")), "")
    rows = [[_GPU_FIELDS.get(field.strip(), str(gpu)) for field in fields] for gpu in range(GPUS)]
    if "nounits" in style:
        rows = [[re.sub(r" (?:MiB|%)$", "", cell) for cell in row] for row in rows]
    header = [] if "noheader" in style else [list(fields)]
    return "".join(", ".join(row) + "\n" for row in [*header, *rows])


def _topology() -> str:
    heads = [f"GPU{gpu}" for gpu in range(GPUS)]
    lines = ["\t" + "\t".join(heads)]
    for row, head in enumerate(heads):
        links = ["X" if row == column else _TOPOLOGY_LINK for column in range(GPUS)]
        lines.append("\t".join([head, *links]))
    return "\n".join(lines) + "\n"


def _date(argv: Sequence[str], now: int = NOW) -> Answer:
    style = next((word[1:] for word in argv[1:] if word.startswith("+")), "%a %b %e %H:%M:%S UTC %Y")
    nanoseconds = re.sub(r"%\d*N", "000000000", style)
    text = re.sub(r"%-", "%", nanoseconds).replace("%s", str(now))
    return Answer(time.strftime(text, time.gmtime(now)) + "\n")


def _hostname(argv: Sequence[str], number: int = 0) -> Answer:
    address = bool({"-I", "-i", "--ip-address", "--all-ip-addresses"} & {*argv})
    return Answer(f"10.0.0.{number + 1}\n" if address else f"node{number}\n")


def _scontrol(argv: Sequence[str]) -> Answer | None:
    return Answer(f"{HOST}\n") if argv[1:3] == ("show", "hostnames") else None


def _git(argv: Sequence[str]) -> Answer | None:
    known = {"--show-toplevel": "/", "--is-inside-work-tree": "true", "--git-dir": "/.git"}
    if argv[1:2] == ("rev-parse",) and argv[-1] in known:
        return Answer(known[argv[-1]] + "\n")
    return None


def _uname(argv: Sequence[str]) -> Answer:
    parts = {"-m": "x86_64", "-s": "Linux", "-n": HOST, "-r": "5.15.0", "-p": "x86_64", "-o": "GNU/Linux"}
    whole = f"Linux {HOST} 5.15.0 #1 SMP x86_64 GNU/Linux"
    return Answer((whole if "-a" in argv else " ".join(parts.get(w, "") for w in argv[1:]) or "Linux") + "\n")


def _identity(argv: Sequence[str]) -> Answer:
    name = "-n" in argv or any(word.endswith("n") and word.startswith("-") for word in argv)
    if len(argv) == 1:
        return Answer("uid=1000(user) gid=1000(user) groups=1000(user)\n")
    return Answer("user\n" if name else "1000\n")


def temporary(argv: Sequence[str], count: int) -> tuple[str, bool]:
    """Return the path that the ``count``-th call of ``mktemp`` makes, and whether it is a folder.

    Every run makes the same ones. Options as of GNU coreutils: -d, -u, -q, -t, -p FOLDER, --suffix=TEXT, TEMPLATE.
    """
    options = [word for word in argv[1:] if word.startswith("-")]
    folder = next((word.partition("=")[2] for word in options if word.startswith("--tmpdir=")), None)
    if "-p" in argv[:-1]:
        folder = argv[argv.index("-p") + 1]
    words = [
        word for place, word in enumerate(argv) if place and word[0:1] != "-" and argv[place - 1] != "-p"
    ]
    template = words[0] if words else "tmp.XXXXXXXXXX"
    inside = folder or ("/tmp" if not words or {"-t", "--tmpdir"} & {*options} else "")
    suffix = next((word.partition("=")[2] for word in options if word.startswith("--suffix=")), "")
    name = re.sub(r"X{3,}(?=[^X]*$)", lambda run: f"{count:0{len(run.group())}d}", template, count=1) + suffix
    path = f"{inside.rstrip('/')}/{name}" if inside and not name.startswith("/") else name
    return path, any(re.match(r"--directory|-[a-z]*d", word) for word in options)


_FIXED = {
    "arch": Answer("x86_64\n"),
    "logname": Answer("user\n"),
    "nproc": Answer("64\n"),
    "pgrep": Answer(status=1),
    "tty": Answer("not a tty\n", 1),
    "whoami": Answer("user\n"),
}

_SPECIAL: dict[str, Callable[[Sequence[str]], Answer | None]] = {
    "date": _date,
    "git": _git,
    "hostname": _hostname,
    "id": _identity,
    "nvidia-smi": _nvidia_smi,
    "scontrol": _scontrol,
    "uname": _uname,
}

# What differs from machine to machine and from day to day; eight GPUs are what the default machine is known for.
_OTHERWISE: dict[str, Callable[[Sequence[str]], Answer]] = {
    "date": lambda argv: _date(argv, NOW + 34_567_890),
    "hostname": lambda argv: _hostname(argv, 7),
    "nproc": lambda _: Answer("96\n"),
}
