"""What a script cannot run without: variables and arguments, and made-up values for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.regex import regex
from example_sanity.launch import idioms
from example_sanity.launch.reach import History
from example_sanity.launch.syntax import DefaultKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from example_sanity.launch.syntax import Assignment, Script

# What bash and the sandbox set themselves.
_PROVIDED = frozenset(
    [
        "HOME",
        "PATH",
        "PWD",
        "OLDPWD",
        "USER",
        "LOGNAME",
        "SHELL",
        "HOSTNAME",
        "RANDOM",
        "SECONDS",
        "LINENO",
        "UID",
        "EUID",
        "PPID",
        "PIPESTATUS",
        "FUNCNAME",
        "REPLY",
        "IFS",
        "OPTARG",
        "OPTIND",
        "OPTERR",
        "SHLVL",
        "HOSTTYPE",
        "OSTYPE",
        "MACHTYPE",
        "EPOCHSECONDS",
        "EPOCHREALTIME",
        "SRANDOM",
        "GROUPS",
        "DIRSTACK",
        "_",
        "TERM",
        "LANG",
        "TMPDIR",
        "COMP_WORDS",
        "MAPFILE",
        "SHELLOPTS",
        "BASHPID",
        "BASH",
        "BASHOPTS",
        "BASH_SOURCE",
        "BASH_VERSION",
        "BASH_LINENO",
        "BASH_COMMAND",
        "BASH_REMATCH",
        "BASH_SUBSHELL",
        "BASH_ARGV",
        "BASH_ARGC",
        "BASH_VERSINFO",
        "BASH_EXECUTION_STRING",
        "BASH_ENV",
    ]
)
_SIZE_NAME = regex(
    r"(?:.*_)?(?:N|NUM|NNODES?|NODES?|TP|PP|EP|CP|SP|DP|ETP|EDP|VPP|RANK|SIZE|N?GPUS?|NPUS?|NPROC|PORT|WORLD|BATCH|BS|BSZ|"
    r"ITERS?|STEPS?|EPOCHS?|LENGTH|LEN|LAYERS?|HEADS?|COUNT|WORKERS?|NTASKS|SEED)(?:_.*)?",
    re.IGNORECASE,
)
_ARGUMENT_COUNT = regex(r"\$(?:#|\{#\})\"?\s*(-lt|-ne|-le|-eq|<=?|!=|==)\s*\"?(\d+)")
_EMPTY_ARGUMENT = regex(r"-z\s+\"?\$\{?([1-9])")
_SIZES = {"RANK": "0", "PORT": "29500"}


class Required(msgspec.Struct, frozen=True):
    """Placeholders for environment variables, and for the positional parameters from the first on."""

    environment: dict[str, str]
    arguments: tuple[str, ...]


def required(script: Script) -> Required:
    """Return placeholders for everything that a script stops without: ``${X:?}``, unbound reads, guards on emptiness.

    A value is one that a ``case`` or a test names, a small number where the name or its use says that it is a size,
    otherwise text.
    """
    numeric = {read.name for read in script.reads if read.arithmetic}
    names = sorted(set(_variables(script)))
    # A value that the script names takes a branch; made-up text would run into its "unsupported" guard.
    named = {choice.name: choice.values[0] for choice in reversed(script.alternatives)}
    values = {name: named.get(name) or placeholder(name, name in numeric) for name in names}
    receivers = _receivers(script)
    count = _argument_count(script)
    arguments = (receivers.get(str(place), f"argument_{place}") for place in range(1, count + 1))
    return Required(
        values, tuple(named.get(name) or placeholder(name, name in numeric) for name in arguments)
    )


def placeholder(name: str, numeric: bool = False) -> str:
    """Return a made-up value for a variable: a small number for a size, a recognisable word otherwise."""
    if not numeric and not _SIZE_NAME.fullmatch(name):
        return f"placeholder-{name}"
    return next((value for part, value in _SIZES.items() if part in name.upper()), "1")


def _variables(script: Script) -> Iterator[str]:
    history = History(script.assignments)
    # "${X:?}" and a guard want text; under set -u it is enough that something assigns the name.
    for place, name, needs_text in sorted([*_strict_reads(script), *_guarded(script)]):
        history.advance(place)
        behind = history.reach.of(name)
        missing = _may_be_empty(history.of(name)) if needs_text else name not in script.assigned
        if behind is not None and behind.isidentifier() and behind not in _PROVIDED and missing:
            yield behind


def _strict_reads(script: Script) -> Iterator[tuple[int, str, bool]]:
    """Yield place and name of the reads that stop the script: ``${X:?}`` (needs text), unbound ones (need a value).

    Behind ``source`` nothing is known to be unbound.
    """
    switches = list(_nounset(script))
    checked: set[str] = set()  # behind a read that copes with it, a name may be known to be set
    sourced = next((site.start for site in script.commands if site.name in {"source", "."}), len(script.data))
    for read in script.reads:
        state = next((on for place, on in reversed(switches) if place < read.start), False)
        if read.required:
            yield read.start, read.name, True
        elif read.defaulted:
            checked.add(read.name)
        elif state and read.start < sourced and read.name not in checked:
            yield read.start, read.name, False


def _nounset(script: Script) -> Iterator[tuple[int, bool]]:
    """Yield where ``set -u`` and ``set +u`` stand."""
    for site in script.commands:
        words = [word.text for word in site.words[1:]] if site.name == "set" else []
        for index, word in enumerate(words):
            letters = word[1:] if word.startswith(("-", "+")) else ""
            if "u" in letters or (letters.endswith("o") and "nounset" in words[index + 1 :][:1]):
                yield site.start, word.startswith("-")


def _guarded(script: Script) -> Iterator[tuple[int, str, bool]]:
    """Yield the names that a guard demands to be non-empty."""
    for guard in script.guards:
        condition = guard.condition.encode("utf-8", "surrogateescape")
        yield from ((guard.start, name, True) for name in idioms.demanded(condition))


def _may_be_empty(own: Sequence[Assignment]) -> bool:
    return not any(_has_text(item) for item in own if not item.function)


def _has_text(item: Assignment) -> bool:
    word = item.default if item.kind is DefaultKind.OVERRIDABLE else item.value
    nested = idioms.default_of((word or "").encode("utf-8", "surrogateescape"))
    while nested is not None:
        word = nested.word
        nested = idioms.default_of(word.encode("utf-8", "surrogateescape"))
    bare = re.sub(r"\$\{?\w+\}?", "", idioms.unquote(word or ""))
    return bool(bare) or item.kind is DefaultKind.REQUIRED


def _receivers(script: Script) -> dict[str, str]:
    """Return the variables that take positional parameters: ``NNODES=$1`` makes the first one a size."""
    found: dict[str, str] = {}
    for item in script.assignments:
        for name in item.reads:
            if name.isdigit() and item.function is None:
                found.setdefault(name, item.name)
    return found


def _argument_count(script: Script) -> int:
    """Return how many arguments a script demands, by its guards on ``$#`` and by what it takes without a default."""
    counts = [
        _demanded_count(*found)
        for guard in script.guards
        for found in _ARGUMENT_COUNT.findall(guard.condition)
    ]
    counts += [int(place) for guard in script.guards for place in _EMPTY_ARGUMENT.findall(guard.condition)]
    taken = [item for item in script.assignments if not item.conditional and item.function is None]
    for read in script.reads:
        if read.name.isdigit() and len(read.name) < 3 and not read.defaulted and not read.function:
            into_variable = any(item.start <= read.start < item.end for item in taken)
            counts += [int(read.name)] if into_variable or read.required else []
    return max(counts, default=0)


def _demanded_count(operator: str, text: str) -> int:
    number = min(int(text), 99)
    if operator in {"-eq", "=="}:
        return 1 if number == 0 else 0
    return number + (operator in {"-le", "<="})
