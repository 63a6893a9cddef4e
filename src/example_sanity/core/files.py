"""Writes files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import time
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file by one with ``data``, through a temporary file beside it; permissions stay. Raises OSError."""
    mode = path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask()
    # The tempfile module takes longer to import than the file to write.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{time.time_ns()}")
    try:
        with temporary.open("xb") as stream:
            stream.write(data)
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    # There is no way to read it without setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
