"""Command lines quoted in text: prompts, placeholders, several commands a block, and where each word stands."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core.finding import Span
from example_sanity.launch import quoted
from example_sanity.launch.quoted import Line, Quoted


def read(text: str, line: int = 1, column: int = 1) -> Quoted:
    return quoted.read([Line(part, line + n, column) for n, part in enumerate(text.split("\n"))])


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in read(text).commands]


@pytest.mark.parametrize("text", ["", "\n\n", "# a comment\n  # another", "...", "  …\n"])
def test_a_block_without_a_command_has_none(text: str) -> None:
    found = read(text)
    assert (found.commands, found.problems, found.reader) == ((), (), "")


def test_words_stand_where_the_file_has_them() -> None:
    (command,) = read("python3 -m app.train \\\n  a.b='x y' # why", line=10, column=5).commands
    assert [(word.text, word.span) for word in command.words] == [
        ("python3", Span(10, 5, 10, 12)),
        ("-m", Span(10, 13, 10, 15)),
        ("app.train", Span(10, 16, 10, 25)),
        ("a.b=x y", Span(11, 7, 11, 16)),
    ]
    assert command.name == "python3"


@pytest.mark.parametrize(
    "text",
    ["A=1 bash x.sh \\\n  --b $C", "$ ls\nfile", "", "cd a\n# b\nif x; then y", "a=(1 2)\nb <name> {{ c }}"],
)
def test_a_block_further_down_says_the_same_there(text: str) -> None:
    assert quoted.moved(read(text, line=1, column=4), 6) == read(text, line=7, column=4)


def test_several_commands_and_what_joins_them() -> None:
    text = "# install\ncd app && (pip install . | tee log)\n\nfor i in 1 2; do echo hi; done"
    assert words(text) == [["cd", "app"], ["pip", "install", "."], ["tee", "log"], ["echo", "hi"]]


def test_output_between_prompts_is_no_command() -> None:
    text = "(venv) $ ls a\nfile (1)\n$ bash x.sh \\\n>   --fast\nuser@node1:~/app# make\ndone: 5 < 6"
    assert words(text) == [["ls", "a"], ["bash", "x.sh", "--fast"], ["make"]]
    (first, *_) = read(text, column=3).commands
    assert first.span == Span(1, 12, 1, 16)


def test_a_prompt_of_two_signs_is_no_redirection() -> None:
    assert words(">> TP=1 bash x.sh") == [["bash", "x.sh"]]


def test_assignments_in_front_are_the_environment() -> None:
    (command,) = read("TP=2 \\\nNAME='a b' MODEL=$HOME/m bash x.sh PP=3").commands
    assert [(name, value.text, value.fixed) for name, value in command.environment] == [
        ("TP", "2", True),
        ("NAME", "a b", True),
        ("MODEL", "$HOME/m", False),
    ]
    assert [word.text for word in command.words] == ["bash", "x.sh", "PP=3"]
    (alone,) = read("TP=2").commands
    assert (alone.words, alone.name, alone.environment[0][0]) == ((), None, "TP")


@pytest.mark.parametrize(
    "word", ["<your-model>", "<path to the model>", "$MODEL", "${{ matrix.model }}", "{{ model }}", "$(pwd)"]
)
def test_a_placeholder_is_a_word_that_is_not_fixed(word: str) -> None:
    (command, *_) = read(f"train --model {word} --fast").commands
    assert [(item.text, item.fixed) for item in command.words] == [
        ("train", True),
        ("--model", True),
        (word, False),
        ("--fast", True),
    ]


def test_a_redirection_is_no_placeholder() -> None:
    (command,) = read("sort <in >out").commands
    assert [word.text for word in command.words] == ["sort"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('ARGS=(a b)\nTP=2 run x "${ARGS[@]}"', [["run", "x", "${ARGS[@]}"]]),
        ("[[ -f é ]] && ls é x", [["ls", "é", "x"]]),
        ("export A=1\nB=(x)\nunset C", [["export", "A=1"], ["unset", "C"]]),
    ],
)
def test_tree_sitter_reads_what_bashlex_cannot(text: str, expected: list[list[str]]) -> None:
    found = read(text)
    assert found.reader == "tree-sitter"
    assert [[word.text for word in item.words] for item in found.commands if item.words] == expected
    assert found.problems == ()


def test_tree_sitter_gives_the_same_places() -> None:
    found = read("[[ é ]] && TP=2 ls 'é x' y", line=4, column=3)
    assert found.reader == "tree-sitter"
    (command,) = found.commands
    assert command.span == Span(4, 14, 4, 29)
    assert [word.span for word in command.words] == [
        Span(4, 19, 4, 21),
        Span(4, 22, 4, 27),
        Span(4, 28, 4, 29),
    ]
    assert [(name, value.text) for name, value in command.environment] == [("TP", "2")]


def test_what_is_no_shell_text_is_said_with_its_place() -> None:
    found = read("ls a\nstep:0 - timing (s) 5\nls b", line=7, column=5)
    assert [[word.text for word in command.words] for command in found.commands] == [["ls", "a"]]
    (problem,) = found.problems
    assert problem.span == Span(8, 5, 8, 26)
    assert "syntax error" in problem.reason
    assert "line 2" not in problem.reason


def test_dots_that_stand_for_more_are_no_word() -> None:
    assert words("train a=1 \\\n  ... \\\n  b=2\n...") == [["train", "a=1", "b=2"]]
    assert words("ls ../x") == [["ls", "../x"]]


def test_the_shell_text_keeps_the_lines() -> None:
    found = read("$ python3 x.py <model>\noutput\n$ ls")
    assert found.text == "python3 x.py ${xxxx}\n\nls\n"


@given(
    st.lists(
        st.text(
            st.characters(codec="utf-8", exclude_characters="\0\r\n", exclude_categories=["C"]), min_size=1
        )
    )
)
def test_quoted_words_are_read_back(items: list[str]) -> None:
    argv = ["run", *(f"a{item}" for item in items)]
    found = read(shlex.join(argv))
    assert found.problems == ()
    assert [word.text for command in found.commands for word in command.words] == argv
