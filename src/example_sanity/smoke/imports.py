"""Notes on what makes the many Python processes of a run start slowly: packages that each of them compiles anew."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from example_sanity.core.errors import UsageError
from example_sanity.doctor import bytecode, environment
from example_sanity.smoke.plan import SmokePlan


def notes(plan: SmokePlan) -> Iterator[str]:
    """Yield them for the Python that the launcher would find; nothing where that is not known, such as behind a wrapper."""
    variables = {**os.environ, **plan.environment}
    # Another place for the files is not looked at.
    if variables.get("PYTHONPYCACHEPREFIX"):
        return
    python = shutil.which("python3", path=variables.get("PATH"))
    try:
        here = environment.at(Path(python)) if python else None
    except UsageError:
        here = None
    packages = bytecode.uncompiled(here) if here else {}
    if here and packages:
        yield (
            f"{bytecode.missing(packages)}, so each process of the run compiles them anew until one has written some; once: "
            f"{bytecode.compiling(here, packages)}"
        )
    if variables.get("PYTHONDONTWRITEBYTECODE"):
        yield (
            "PYTHONDONTWRITEBYTECODE is set: what has no .pyc files, such as source trees on PYTHONPATH, is compiled anew by each "
            "process of every run; unset it"
        )
