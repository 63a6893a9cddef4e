"""What a launcher did when it was evaluated: each recorded command, and which of them start a training program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.finding import Span

if TYPE_CHECKING:
    from example_sanity.launch.scenario import Scenario
    from example_sanity.launch.syntax import Script


class Origin(msgspec.Struct, frozen=True):
    """Where a word of a recorded command came from.

    ``span`` is the source word when ``exact``, otherwise the call site of the command. ``path`` differs from the
    script's when the word was written in a sourced file. ``group`` is the array that the word went through, if any;
    ``knobs`` are the variables that fed it, nearest first.
    """

    path: str
    span: Span
    exact: bool = False
    group: str | None = None
    knobs: tuple[str, ...] = ()


class Command(msgspec.Struct, frozen=True):
    """One command that the script would have run on the host, in order of execution.

    ``environment`` is what it would get on top of an empty environment. ``origins`` runs parallel to ``argv``.
    ``unstable`` holds the indexes of words that depend on a placeholder. ``site`` is the call site. ``folder`` is the
    current folder, where the project is ``/``.
    """

    argv: tuple[str, ...]
    environment: dict[str, str]
    status: int
    site: Origin
    origins: tuple[Origin, ...] = ()
    unstable: frozenset[int] = frozenset()
    folder: str = "/"


class Launcher(msgspec.Struct, frozen=True):
    """A launcher that an entry goes through, and its own options (long names with underscores, switches empty)."""

    kind: str
    options: dict[str, str]


class Entry(msgspec.Struct, frozen=True):
    """A command that starts a program: which one, through what, with which arguments.

    ``kind`` is the outermost launcher (python, torchrun, accelerate, deepspeed, ray, srun, sbatch, mpirun, uv).
    Exactly one of ``module`` (dotted) and ``file`` is set; ``file`` is a shell script where Slurm queues one.
    ``arguments`` are the indexes into ``command.argv`` of the program's own arguments. ``launchers`` are all launchers
    from the outside in (``srun torchrun``: two), without plain Python; ``options`` are their options together, by their
    long names without dashes and with underscores (``nproc_per_node``, ``nnodes``), as text, the innermost launcher
    winning. ``wrapper`` is a Python module that runs the program in its own process (``python -m wrapper program``).
    ``command`` is the recorded one; for a program inside ``bash -c "text"`` it is the command cut out of that text.
    """

    command: Command
    kind: str
    module: str | None
    file: str | None
    arguments: tuple[int, ...]
    options: dict[str, str]
    launchers: tuple[Launcher, ...] = ()
    wrapper: str | None = None


class Launch(msgspec.Struct, frozen=True):
    """One evaluation of a script under one scenario.

    ``failure`` is the reason when the script could not be evaluated (then nothing may be concluded from ``commands``);
    ``limit`` says that the reason was a limit. ``status`` is the script's exit status, ``output`` what it printed.
    ``variables`` are the scalar shell variables at the end, as far as known. ``uncertain`` says that a word may depend on
    what no evaluation knows: the output of some command, the day, a number drawn by lot.
    """

    script: Script
    scenario: Scenario
    commands: tuple[Command, ...]
    entries: tuple[Entry, ...]
    status: int
    stdout: str
    stderr: str
    variables: dict[str, str]
    failure: str | None = None
    limit: bool = False
    uncertain: bool = True
