"""Recognise the commands that start a program: through which launchers, which program, with which arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from example_sanity.core.regex import regex
from example_sanity.launch.command import Command, Entry, Launcher
from example_sanity.launch.launchers import (
    LAUNCHER_MODULES,
    LAUNCHERS,
    PYTHON,
    PYTHON_WRAPPERS,
    SUBCOMMANDS,
    TOOL_MODULES,
    WRAPPER_SUBCOMMANDS,
    WRAPPERS,
)
from example_sanity.launch.options import Options, read_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PYTHON = regex(r"(?:python|pypy)(?:[23](?:\.\d+)?t?)?")
_SHELL = regex(r"(?:ba|da|z|k)?sh")
_MODULE = regex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_FILE_ENDINGS = frozenset(
    [
        "py",
        "pyc",
        "sh",
        "bash",
        "json",
        "jsonl",
        "yaml",
        "yml",
        "toml",
        "txt",
        "csv",
        "parquet",
        "pt",
        "pth",
        "bin",
        "md",
        "cfg",
        "ini",
    ]
)
_SCRIPT_ENDINGS = (".sh", ".bash", ".slurm", ".sbatch")
_ASSIGNMENT = regex(r"[A-Za-z_]\w*=")
_MAX_NESTING = 20


class _State(msgspec.Struct, frozen=True):
    """A command line being read from the left: where it is, and what it went through."""

    command: Command
    index: int = 0
    chain: tuple[Launcher, ...] = ()
    wrapper: str | None = None
    nesting: int = 0

    @property
    def rest(self) -> tuple[str, ...]:
        return self.command.argv[self.index :]

    def moved(self, words: int) -> _State:
        return replace(self, index=self.index + words, nesting=self.nesting + 1)

    def through(self, kind: str, options: Options) -> _State:
        return replace(self, chain=(*self.chain, Launcher(kind, options.values)))


def entries(commands: Sequence[Command]) -> tuple[Entry, ...]:
    """Return the entries among recorded commands, in order. A command of ``bash -c "…"`` counts by what it holds."""
    return tuple(entry for command in commands for entry in _read(_State(command)))


def _read(state: _State) -> Iterator[Entry]:
    """Read one command line at ``state.index``: launchers and wrappers are peeled off until a program appears."""
    if not state.rest or state.nesting > _MAX_NESTING:
        return
    name = state.rest[0].rpartition("/")[2]
    if name in LAUNCHERS:
        yield from _launcher(state, name)
    elif name in WRAPPERS:
        yield from _wrapper(state, name)
    elif _PYTHON.fullmatch(name):
        yield from _python(state.moved(1))
    elif _SHELL.fullmatch(name):
        yield from _shell(state.moved(1))
    elif state.chain:
        yield from _program(state)


def _program(state: _State) -> Iterator[Entry]:
    """A file that a launcher starts: a Python file, or a script that it queues."""
    word = state.rest[0]
    if word.endswith((".py", *_SCRIPT_ENDINGS)):
        yield _entry(state, file=word, skip=1)


def _entry(state: _State, *, module: str | None = None, file: str | None = None, skip: int) -> Entry:
    first = state.index + skip
    options: dict[str, str] = {}
    for launcher in state.chain:
        options.update(launcher.options)
    return Entry(
        command=state.command,
        kind=state.chain[0].kind if state.chain else "python",
        module=module,
        file=file,
        arguments=tuple(range(first, len(state.command.argv))),
        options=options,
        launchers=state.chain,
        wrapper=state.wrapper,
    )


def _after_subcommand(state: _State, expected: tuple[str, ...]) -> _State | None:
    """Step over the launcher's name and its subcommand; None when it is another one."""
    if state.rest[1 : 1 + len(expected)] != expected:
        return None
    return state.moved(1 + len(expected))


def _launcher(state: _State, name: str) -> Iterator[Entry]:
    inside = _after_subcommand(state, SUBCOMMANDS.get(name, ()))
    if inside is not None:
        yield from _launch(inside, name)


def _launch(state: _State, name: str) -> Iterator[Entry]:
    """Read a launcher's own options and go on with what it starts."""
    grammar = LAUNCHERS[name]
    options = read_options(state.rest, grammar)
    inside = state.moved(options.end).through(name, options)
    if not inside.rest:
        return
    # "-m" is a switch for these launchers: the module is the first operand.
    if "module" in options.values and name != "sbatch":
        yield from _module(inside)
    elif name in {"torchrun", "accelerate", "deepspeed"} and "no_python" not in options.values:
        yield _entry(inside, file=inside.rest[0], skip=1)
    # Ray joins the words of its entry point anyway, so many write it as one.
    elif name == "ray" and len(inside.rest) == 1 and " " in inside.rest[0]:
        yield from _shell_text(inside, inside.index)
    else:
        yield from _read(inside)


def _wrapper(state: _State, name: str) -> Iterator[Entry]:
    inside = _after_subcommand(state, WRAPPER_SUBCOMMANDS.get(name, ()))
    if inside is None:
        return
    grammar = WRAPPERS[name]
    options = read_options(inside.rest, grammar)
    inside = inside.moved(options.end)
    # "env A=1 cmd" and "sudo A=1 cmd" set variables in front of the command.
    while grammar.assignments and inside.rest and _ASSIGNMENT.match(inside.rest[0]):
        inside = replace(inside, index=inside.index + 1)
    yield from _read(inside.moved(grammar.skip))


def _python(state: _State) -> Iterator[Entry]:
    """``python [options] -m module`` or ``python [options] file``; ``-c`` and standard input are no entries."""
    index = 0
    words = state.rest
    while index < len(words) and words[index].startswith("-") and len(words[index]) > 1:
        word = words[index]
        if word.startswith("--"):
            index += 2 if word[2:].replace("-", "_") in PYTHON.values else 1
            continue
        letters = word[1:]
        stop = next((place for place, letter in enumerate(letters) if letter in "mcWX"), None)
        attached = stop is not None and stop + 1 < len(letters)
        if stop is None:
            index += 1
        elif letters[stop] == "c":
            return
        elif letters[stop] == "m":
            if attached:
                yield from _module(state.moved(index), letters[stop + 1 :])
            else:
                yield from _module(state.moved(index + 1))
            return
        else:
            index += 1 if attached else 2
    if index < len(words) and words[index] != "-" and not words[index].endswith("setup.py"):
        yield _entry(state.moved(index), file=words[index], skip=1)


def _module(state: _State, name: str | None = None) -> Iterator[Entry]:
    """``module arguments``; ``name`` is given when it stood in the same word as ``-m``."""
    if not state.rest or state.nesting > _MAX_NESTING:
        return
    module = name or state.rest[0]
    inside = state.moved(1)
    if module in LAUNCHER_MODULES:
        launcher = LAUNCHER_MODULES[module]
        launch_word = launcher == module == "accelerate" and inside.rest[:1] == ("launch",)
        yield from _launch(inside.moved(1 if launch_word else 0), launcher)
    elif module in PYTHON_WRAPPERS:
        yield from _python_wrapper(inside, module)
    # A second dotted name is the program, and this module only prepares the process for it.
    elif inside.rest and state.wrapper is None and _is_dotted(inside.rest[0]) and module not in TOOL_MODULES:
        yield from _module(replace(inside, wrapper=module))
    elif module not in TOOL_MODULES or state.chain:
        yield _entry(state, module=module, skip=1)


def _python_wrapper(state: _State, module: str) -> Iterator[Entry]:
    if state.rest[:1] == ("run",):
        state = state.moved(1)
    options = read_options(state.rest, PYTHON_WRAPPERS[module], stop_at=("-m",))
    inside = replace(state.moved(options.end), wrapper=module)
    if inside.rest[:1] == ("-m",):
        yield from _module(inside.moved(1))
    elif inside.rest:
        yield _entry(inside, file=inside.rest[0], skip=1)


def _is_dotted(word: str) -> bool:
    return "." in word and bool(_MODULE.fullmatch(word)) and word.rpartition(".")[2] not in _FILE_ENDINGS


def _shell(state: _State) -> Iterator[Entry]:
    """``bash -c "text"``: the commands in the text. A script that bash runs is followed by the evaluator."""
    for place, word in enumerate(state.rest):
        if not word.startswith(("-", "+")):
            if state.chain and word.endswith(_SCRIPT_ENDINGS):
                yield _entry(state.moved(place), file=word, skip=1)
            return
        if "c" in word[1:] and not word.startswith("--"):
            if place + 1 < len(state.rest):
                yield from _shell_text(state, state.index + place + 1)
            return


def _shell_text(state: _State, index: int) -> Iterator[Entry]:
    """Cut the commands out of shell text in one word; each becomes a command of its own with that word's origin."""
    from example_sanity.launch.facts import literal
    from example_sanity.launch.syntax import parse

    text = state.command.argv[index]
    for site in parse("", text.encode("utf-8", "surrogateescape")).commands:
        known = [literal(word.text) for word in site.words]
        argv = tuple(
            word.text if value is None else value for word, value in zip(site.words, known, strict=True)
        )
        origins = state.command.origins
        unstable = index in state.command.unstable
        open_words = (place for place, value in enumerate(known) if unstable or value is None)
        inner = replace(
            state.command,
            argv=argv,
            origins=(origins[index],) * len(argv) if index < len(origins) else (),
            unstable=frozenset(open_words),
        )
        yield from _read(replace(state, command=inner, index=0, nesting=state.nesting + 1))
