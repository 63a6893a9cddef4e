"""What the family ``knobs`` may be told: where regions are, which headings excuse a default, what the machine provides."""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

REGION_TITLES = ("user-adjustable*", "user adjustable*")
DERIVED_HEADINGS = (
    "derived*",
    "device*specific*",
    "backend*specific*",
    "*no user adjustment*",
    "*do not edit*below*",
    "*do not change*below*",
    "*do not modify*below*",
)
# Bash manual, "Shell Variables".
SHELL_VARIABLES = (
    "BASH*",
    "COLUMNS",
    "COMP_*",
    "COPROC",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GLOBIGNORE",
    "GROUPS",
    "HIST*",
    "HOSTNAME",
    "HOSTTYPE",
    "IFS",
    "LINENO",
    "LINES",
    "MACHTYPE",
    "MAPFILE",
    "OLDPWD",
    "OPTARG",
    "OPTERR",
    "OPTIND",
    "OSTYPE",
    "PIPESTATUS",
    "PPID",
    "PS[0-4]",
    "PWD",
    "RANDOM",
    "REPLY",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "SRANDOM",
    "TIMEFORMAT",
    "TMOUT",
    "UID",
    "_",
)
PROVIDED = (
    # login
    "DISPLAY",
    "EDITOR",
    "HOME",
    "LANG",
    "LC_*",
    "LOGNAME",
    "PATH",
    "SHELL",
    "SSH_*",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_*",
    # search paths, Python environments, proxies
    "CONDA_*",
    "CPATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LIBRARY_PATH",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "[Hh][Tt][Tt][Pp]_[Pp][Rr][Oo][Xx][Yy]",
    "[Hh][Tt][Tt][Pp][Ss]_[Pp][Rr][Oo][Xx][Yy]",
    "[Nn][Oo]_[Pp][Rr][Oo][Xx][Yy]",
    # accelerators and their libraries
    "ASCEND_*",
    "CUDA_*",
    "HCCL_*",
    "HIP_*",
    "NCCL_*",
    "NVIDIA_*",
    "ROCM_*",
    "ROCR_*",
    # process launchers and schedulers
    "ARNOLD_*",
    "AZUREML_*",
    "AZ_BATCH*",
    "BEAKER_*",
    "GROUP_RANK",
    "KUBERNETES_*",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "LSB_*",
    "MASTER_ADDR",
    "MASTER_PORT",
    "NODE_RANK",
    "OMPI_*",
    "PBS_*",
    "PET_*",
    "PMI*",
    "RANK",
    "RAY_*",
    "ROLE_*",
    "SLURM*",
    "TORCHELASTIC_*",
    "WORLD_SIZE",
    # continuous integration
    "BUILDKITE*",
    "CI",
    "CI_*",
    "GITHUB_*",
    "RUNNER_*",
    # credentials and caches
    "HF_HOME",
    "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "WANDB_API_KEY",
)


class KnobsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.knobs]``. All lists hold shell-style patterns.

    ``roots`` are the folders whose shell scripts are judged. ``region-titles`` are the titles (lower case) whose region
    holds knobs by convention; any pair ``X`` and ``end X`` around an overridable default is such a region, too.
    Below a heading of ``derived-headings`` a default may stand outside every region. ``provided`` are variables that
    the machine, the scheduler or the process launcher sets; what bash sets itself need not be listed.
    """

    roots: tuple[str, ...] = (".",)
    region_titles: tuple[str, ...] = REGION_TITLES
    derived_headings: tuple[str, ...] = DERIVED_HEADINGS
    provided: tuple[str, ...] = PROVIDED

    def is_provided(self, name: str) -> bool:
        """Return whether something other than the script sets the variable."""
        return _matches(name, (*SHELL_VARIABLES, *self.provided))

    def is_region_title(self, title: str) -> bool:
        """Return whether a region of this title holds knobs by convention."""
        return _matches(title, self.region_titles)

    def is_derived_heading(self, title: str) -> bool:
        """Return whether defaults below this heading are derived ones."""
        return _matches(title, self.derived_headings)


def _matches(text: str, patterns: Iterable[str]) -> bool:
    # Most patterns are plain names, and to compile all of them takes longer than to compare.
    given = tuple(patterns)
    return text in given or _compiled(given).match(text) is not None


@lru_cache(maxsize=32)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    wild = [fnmatch.translate(pattern) for pattern in patterns if set("*?[") & set(pattern)]
    return re.compile("|".join(wild) or r"(?!)")
