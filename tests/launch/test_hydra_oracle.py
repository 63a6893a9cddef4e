"""The override parser against Hydra's own, on generated words and on those of real launchers.

Run with ``pytest --hydra PYTHON``, PYTHON being an interpreter that has hydra-core 1.3; ``--corpus DIR`` adds the words of
a repository's scripts.
"""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest

from example_sanity.launch.hydra_functions import Sweep
from example_sanity.launch.hydra_override import parse
from example_sanity.launch.syntax import parse as parse_script

pytestmark = pytest.mark.hydra

OPERATIONS = {"set": "CHANGE", "add": "ADD", "force": "FORCE_ADD", "delete": "DEL"}
PIECES = [
    *[
        "a",
        "b.c",
        "k",
        "=",
        "=",
        "1",
        "0",
        "-2",
        "1e-6",
        "1.5",
        "true",
        "False",
        "null",
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        "(",
        ")",
        "'",
        '"',
        "\\",
        "x-y",
        "/",
        "$",
        "${a.b}",
        "@",
        "+",
        "~",
        "?",
        "*",
        "inf",
        "1_0",
    ],
    *[
        ".",
        ".5",
        "5.",
        "007",
        "int",
        "choice",
        "range",
        "no",
        "é",
        "a=",
        "|",
        "%",
        '"q"',
        "'s'",
        "sort",
        "#",
        "str(",
        "float(",
        "tag(",
        "glob(",
    ],
    "\t",
    " ",
]


def plain(value: object) -> object:
    """Return a value in the form that the worker writes."""
    if isinstance(value, Sweep):
        return [value.kind, [plain(item) for item in value.values]]
    if isinstance(value, dict):
        return {"pairs": [[plain(key), plain(item)] for key, item in value.items()]}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def ours(word: str) -> list[object] | None:
    found = parse(word)
    if found.error is not None:
        return None
    return [OPERATIONS[found.operation], found.key, found.package, repr(plain(found.value))]


def disagreements(words: list[str], python: str) -> list[tuple[str, object, object]]:
    worker = Path(__file__).with_name("hydra_worker.py")
    text = "\n".join(json.dumps(word) for word in words)
    done = subprocess.run(
        [python, "-W", "ignore", worker], input=text, capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    pairs = ((word, ours(word), answer) for word, answer in zip(words, answers, strict=True))
    return [(word, mine, theirs) for word, mine, theirs in pairs if mine != theirs]


@pytest.mark.parametrize("seed", range(3))
def test_generated_words(seed: int, pytestconfig: pytest.Config) -> None:
    source = random.Random(seed)
    words = [
        source.choice(("k=", "k=", "")) + "".join(source.choices(PIECES, k=source.randint(1, 9)))
        for _ in range(5000)
    ]
    assert disagreements(words, pytestconfig.getoption("--hydra")) == []


@pytest.mark.corpus
def test_words_of_launchers(corpus: Path, pytestconfig: pytest.Config) -> None:
    words = set()
    for path in corpus.rglob("*.sh"):
        if path.is_file():
            script = parse_script(path.name, path.read_bytes())
            words |= {word.text.strip('"') for array in script.arrays for word in array.words}
            words |= {word.text.strip('"') for site in script.commands for word in site.words}
    overrides = sorted(word for word in words if "=" in word and not word.startswith("-"))
    assert overrides
    assert disagreements(overrides, pytestconfig.getoption("--hydra")) == []
