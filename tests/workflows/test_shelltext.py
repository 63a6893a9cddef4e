"""What the commands of shell text become: words, folders, and the files that they need."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_sanity.checks.workflows.expressions import WORKSPACE
from example_sanity.checks.workflows.references import references
from example_sanity.checks.workflows.shelltext import Shell

FILES = ("tests/e2e/a.sh", "tests/e2e/b.sh", "tests/c.sh", "train.py")


def _words(text: str, **environment: str) -> list[str]:
    return [" ".join(call.words) for call in Shell(text, environment, files=FILES).calls]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a 'b c' \"d e\" f\\ g", ["a b c d e f g"]),
        ("$UV_RUN python x.py", ["uv run --frozen python x.py"]),
        ("run $X/${Y:-z} ${N:-3}", ["run $X/z 3"]),
        ('A=1\nrun $A ${A}0 "${A:-2}"', ["run 1 10 1"]),
        ("A=1\nif x; then A=2; fi\nrun $A", ["x", "run 1", "run 2"]),
        ("A=$(date)\nrun $A", ["date", "run $A"]),
        ("read A\nrun $A", ["read A", "run $A"]),
        ('A=(x y)\nrun "${A[@]}" z', ["run x y z"]),
        ('A=()\nrun "${A[@]}"', ["run"]),
        ("for f in a b; do run $f; done", ["run a", "run b"]),
        ("for f in tests/e2e/*.sh; do bash $f; done", ["bash tests/e2e/a.sh", "bash tests/e2e/b.sh"]),
        ("for f in $(ls); do bash $f; done", ["ls", "bash $f"]),
        ('run $(dirname "$0")/x', [f"run {WORKSPACE}/x", "dirname $0"]),
    ],
)
def test_what_words_become(text: str, words: list[str]) -> None:
    assert _words(text, UV_RUN="uv run --frozen") == words


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("last", WORKSPACE),
        ("cd tests\nlast", f"{WORKSPACE}/tests"),
        ("cd tests && cd ..\nlast", WORKSPACE),
        ("(cd tests; x)\nlast", WORKSPACE),
        ("f() { cd tests; }\nlast", WORKSPACE),
        ("cd $GITHUB_WORKSPACE/tests\nlast", f"{WORKSPACE}/tests"),
        ("cd /opt\nlast", "/opt"),
        ("cd $SOMEWHERE\nlast", None),
        ("cd -\nlast", None),
    ],
)
def test_where_commands_run(text: str, folder: str | None) -> None:
    assert Shell(text, {}).calls[-1].folder == folder


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("echo tests/c.sh > x; ls train.py", []),
        ("python train.py --x y.py", ["program train.py"]),
        ("A=1 torchrun --nproc-per-node 8 train.py", ["program train.py"]),
        ("python3 -m pkg.train a=b", ["module pkg.train"]),
        ("bash -x tests/c.sh arg", ["script tests/c.sh"]),
        ("./tests/c.sh", ["script tests/c.sh"]),
        ("taint.sh --all", []),  # looked for on PATH
        ("timeout 10 bash tests/c.sh", ["script tests/c.sh"]),
        ("uv run --frozen --extra gpu bash tests/c.sh", ["script tests/c.sh"]),
        ("source tests/c.sh", ["source tests/c.sh"]),
        ("bash -c 'cd tests; bash c.sh'", ["script c.sh"]),
        (
            "pytest -s -x -k name tests/unit tests/test_a.py::test_b",
            ["test tests/unit", "test tests/test_a.py"],
        ),
        ("python -m pytest --ignore=x --cov-report xml tests/unit", ["test tests/unit"]),
        ("torchrun --nproc_per_node 2 -m pytest tests/unit", ["test tests/unit"]),
        (
            "pip install -r requirements.txt -c limits.txt",
            ["requirements requirements.txt", "requirements limits.txt"],
        ),
        ("docker run -w $GITHUB_WORKSPACE image bash -lc 'python train.py'", ["program train.py"]),
        ("docker run image bash -c 'python train.py'", ["program None"]),
        ("bash tests/$NAME.sh", ["script None"]),
        ("cd /opt; python train.py", ["program None"]),
        ("python ~/train.py", ["program None"]),
    ],
)
def test_which_files_commands_need(text: str, found: list[str]) -> None:
    shell = Shell(text, {}, files=FILES)

    shown = [
        f"{item.kind} {item.path if item.kind == 'module' else item.place}" for item in references(shell)
    ]
    assert shown == found


PIECES = st.sampled_from(
    [
        "a",
        "b.sh",
        "tests/",
        "*",
        "?",
        "[",
        "]",
        "[z-a]",
        "$",
        "${",
        "}",
        "$(",
        ")",
        "`",
        "'",
        '"',
        "\\",
        "\n",
        ";",
        "|",
        "||",
        "&&",
        "&",
        "for",
        "in",
        "do",
        "done",
        "if",
        "then",
        "fi",
        "cd",
        "source",
        "bash",
        "-c",
        "python",
        "-m",
        "pytest",
        "x=",
        "x=(y)",
        "${x}",
        "${x[@]}",
        "${x:-y}",
        "$x",
        "$@",
        "<<",
        "EOF",
        ">",
        "#",
        "(",
        "{",
        "é",
        "::",
        "-",
        "--",
        "=",
        "docker",
        "run",
        "-w",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(PIECES, st.sampled_from(["", " ", "\n"])), max_size=14))
def test_whatever_the_text_is_it_can_be_read(pieces: list[tuple[str, str]]) -> None:
    shell = Shell("".join(word + gap for word, gap in pieces), {"x": "a b"}, files=FILES)

    for item in references(shell):
        assert item.call.words
        assert item.word < len(item.call.words)
        assert item.place is None or not item.place.startswith("/")


def test_a_pattern_that_is_none_is_not_known() -> None:
    assert _words("for f in tests/[z-a].sh; do bash $f; done") == ["bash $f"]
    assert _words("for f in $(ls [0-:-1]); do bash $f; done")[-1] == "bash $f"
