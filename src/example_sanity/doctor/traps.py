"""What is installed as it is asked for, and still goes wrong or takes long. All of it is said, and none is judged."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from example_sanity.core.regex import regex
from example_sanity.doctor import bytecode
from example_sanity.doctor.environment import Environment
from example_sanity.doctor.findings import Kind, Statement, Verdict, note
from example_sanity.doctor.gpus import Gpus
from example_sanity.doctor.modules import look

_HOPPER = regex(r"\bG?H(?:100|200|20|800)\b")
# flash-linear-attention issue 640, and the check in fla/ops/common/chunk_o.py of fla-core 0.5 and 0.6.
_WRONG = SpecifierSet(">=3.4.0,<3.7.1")
_RAISES = Version("0.5.0")


def traps(environment: Environment, gpus: Gpus, folders: Iterable[Path]) -> Verdict:
    """Return notes on an environment; ``folders`` are those that the launcher puts before it."""
    return note(*_wrong_gradients(environment, gpus, folders), *_compiled_anew(environment))


def _wrong_gradients(environment: Environment, gpus: Gpus, folders: Iterable[Path]) -> Iterator[Statement]:
    """Triton's kernels for gated delta nets on Hopper."""
    fla = environment.distributions.get("fla-core") or environment.distributions.get("flash-linear-attention")
    triton = environment.distributions.get("triton")
    if fla is None or triton is None or not _WRONG.contains(triton.version, prereleases=True):
        return
    if gpus.names and not any(_HOPPER.search(name) for name in gpus.names):
        return
    if look("tilelang", [*folders, *environment.folders]) is not None:
        return
    refuses = _version(fla.version) >= _RAISES
    outcome = "so its backward pass ends with an exception" if refuses else "and it trains with them"
    where = "these Hopper GPUs" if gpus.names else "Hopper GPUs"
    words = (
        f"with triton {triton.version} on {where} the gated delta nets (Qwen3.5, Qwen3-Next) of {fla.name} {fla.version} have wrong "
        f"gradients, {outcome}"
    )
    fix = (
        "pip install tilelang, into a folder of its own on PYTHONPATH (with --no-deps --target) where it does not fit the pins of "
        "the others (apache-tvm-ffi of vLLM); or triton 3.7.1"
    )
    yield Statement(Kind.COMBINATION, fla.name, words, (), fix)


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0")


def _compiled_anew(environment: Environment) -> Iterator[Statement]:
    packages = bytecode.uncompiled(environment)
    if packages:
        words = f"{bytecode.missing(packages)}: each process compiles them anew until one has written some"
        if os.environ.get("PYTHONDONTWRITEBYTECODE"):
            words += ", and none does, since PYTHONDONTWRITEBYTECODE is set"
        yield Statement(
            Kind.BYTECODE, next(iter(packages)), words, (), bytecode.compiling(environment, packages)
        )
