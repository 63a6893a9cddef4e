"""Under which circumstances a launcher is evaluated: environment, probe answers, placeholders."""

from __future__ import annotations

import msgspec


class Answer(msgspec.Struct, frozen=True):
    """What a probe command prints and how it exits."""

    stdout: str = ""
    status: int = 0


class Scenario(msgspec.Struct, frozen=True):
    """One set of circumstances.

    ``name`` is what findings print: ``default``, ``MODEL_VARIANT=pro``, ``probe npu``. ``environment`` holds the values
    that the user or the scenario sets; ``placeholders`` those made up for required variables (their values must not
    reach a verdict); ``arguments`` are the positional parameters; ``probes`` maps a command's words, joined by single
    spaces, or a prefix of them, to its answer.
    """

    name: str = "default"
    environment: dict[str, str] = {}
    placeholders: dict[str, str] = {}
    arguments: tuple[str, ...] = ()
    probes: dict[str, Answer] = {}
