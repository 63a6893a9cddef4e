"""Requirements files, pins of sibling projects, and the words after ``pip install``."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from example_sanity.doctor.asked import Asked, distribution, parse
from example_sanity.doctor.files import logical_lines, pinned, pip_words, requirements


def rows(found: list[Asked]) -> list[tuple[str, int, str, str]]:
    return [(item.place.path, item.place.line, item.name, str(item.window)) for item in found]


def read_requirements(files: Mapping[str, str], path: str = "requirements.txt") -> list[Asked]:
    return list(requirements(path, files.get, held=True))


def test_what_is_no_requirement_asks_for_nothing() -> None:
    text = "# torch==2.0\n\n--index-url https://example.invalid\n-e .\n./wheels/a.whl\nhttps://example.invalid/b.whl\n"

    assert read_requirements({"requirements.txt": text}) == []
    assert read_requirements({}) == []


def test_each_line_keeps_its_place() -> None:
    text = "Torch_Data\nray[default] >= 2.41 # comment\n\nnumpy<2; python_version < '3.9'\nflask \\\n  >=2\nlast==1 --hash=sha256:ab\n"
    found = read_requirements({"requirements.txt": text})

    assert rows(found) == [
        ("requirements.txt", 1, "torch-data", ""),
        ("requirements.txt", 2, "ray", ">=2.41"),
        ("requirements.txt", 4, "numpy", "<2"),
        ("requirements.txt", 5, "flask", ">=2"),
        ("requirements.txt", 7, "last", "==1"),
    ]
    assert found[1].extras == ("default",)
    assert found[1].place.text == "ray[default] >= 2.41"
    assert str(found[2].marker) == 'python_version < "3.9"'


def test_an_address_is_a_reference() -> None:
    (found,) = read_requirements({"requirements.txt": "queue @ git+https://example.invalid/q.git@main\n"})

    assert (found.name, str(found.window), found.reference) == (
        "queue",
        "",
        "git+https://example.invalid/q.git@main",
    )


def test_included_files_are_read_once_and_constraints_make_nothing_necessary() -> None:
    files = {
        "a/requirements.txt": "-r ../base.txt\n-c limits.txt\n",
        "base.txt": "numpy\n-r a/requirements.txt\n",
        "a/limits.txt": "torch<2.7\n",
    }
    found = read_requirements(files, "a/requirements.txt")

    assert rows(found) == [("base.txt", 1, "numpy", ""), ("a/limits.txt", 1, "torch", "<2.7")]
    assert [(item.kind, item.present) for item in found] == [("requirements", True), ("constraints", False)]


@pytest.mark.parametrize(
    ("text", "line", "window", "reference"),
    [
        (
            "# Needs main.\nverl @ git+https://example.invalid/verl.git@a6ef5009\n",
            2,
            "",
            "git+https://example.invalid/verl.git@a6ef5009",
        ),
        ("verl>=0.7\n", 1, ">=0.7", None),
        ("Reference\n\nBranch: main\nCommit: 55c8d8b22f\n", 4, "", "55c8d8b22f"),
        ("Version: 0.7.1\n", 1, "==0.7.1", None),
    ],
)
def test_a_pin_file_pins_the_project_in_its_name(
    text: str, line: int, window: str, reference: str | None
) -> None:
    path = "lite/REQUIRED_VERL.txt"
    (found,) = pinned(path, {path: text}.get, held=True)

    assert (found.name, found.kind, found.place.line) == ("verl", "pin", line)
    assert (str(found.window), found.reference) == (window, reference)


def test_a_pin_file_of_prose_pins_nothing() -> None:
    path = "REQUIRED_VERL.txt"

    assert list(pinned(path, {path: "Reference\nsee the wiki\n"}.get, held=True)) == []
    assert list(pinned("notes.txt", {"notes.txt": "verl==1\n"}.get, held=True)) == []


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("-r requirements.txt -e . ./local --index-url https://example.invalid/whl", []),
        ("--no-deps -U 'numpy<2' scipy==1.17.1 # why", ["numpy<2", "scipy==1.17.1"]),
        ("torch==${TORCH} vllm[audio]==0.8.5", ["vllm==0.8.5"]),
        ("git+https://example.invalid/x/mbridge.git@main", ["mbridge"]),
        ("https://example.invalid/w/router-0.3-py3-none-any.whl", ["router"]),
        ("'git+https://example.invalid/x/m.git#egg=mamba-ssm'", ["mamba-ssm"]),
        ('"unclosed', []),
    ],
)
def test_pip_words(words: str, names: list[str]) -> None:
    assert [f"{item.name}{item.window}" for item in pip_words(words)] == names


def test_the_name_of_an_address_is_a_guess_unless_it_says_so() -> None:
    assert [
        item.guessed for item in pip_words("git+https://x.invalid/a.git git+https://x.invalid/b#egg=c")
    ] == [True, False]


@pytest.mark.parametrize(
    ("text", "name", "window", "reference"),
    [
        ("Megatron-LM==0.16.0", "megatron-core", "==0.16.0", None),
        ("Megatron-LM==core_v0.18.0", "megatron-core", "", "core_v0.18.0"),
        ("vllm==releases/v0.13.0", "vllm", "", "releases/v0.13.0"),
        ("vllm==v0.13.0", "vllm", "==v0.13.0", None),
        ("transformers@<cc7ab9be>", "transformers", "", "cc7ab9be"),
        ("megatron-bridge==de93536e", "megatron-bridge", "", "de93536e"),
    ],
)
def test_versions_commits_and_branches(text: str, name: str, window: str, reference: str | None) -> None:
    found = parse(text)

    assert found is not None
    assert (found.name, str(found.window), found.reference) == (name, window, reference)


def test_prose_is_no_requirement() -> None:
    assert parse("two words") is None
    assert distribution("Flash_Attention") == "flash-attn"


def test_logical_lines_keep_the_first_number_and_an_unended_one() -> None:
    assert [(line.number, line.text.split()) for line in logical_lines("a\nb \\\nc\nd \\")] == [
        (1, ["a"]),
        (2, ["b", "c"]),
        (4, ["d"]),
    ]
