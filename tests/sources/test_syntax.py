"""SRC013, SYS006 and SRC015: what the compiler warns of, what it refuses, and paths that are not there."""

from __future__ import annotations

import pytest

from example_sanity.checks.sources.stale import StaleSourcePath
from example_sanity.checks.sources.syntax import PythonSyntaxWarning
from example_sanity.testing import check_rule
from helpers import Write, brief, cli, report


@pytest.mark.parametrize("text", ["", "x = r'\\d'\n", "x = 1\nassert x, 'why'\n", "\ufeffx = 1\n"])
def test_what_compiles_without_a_word_is_silent(text: str) -> None:
    assert check_rule(PythonSyntaxWarning, text, path="a.py") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [("x = 1\ny = '\\d'\n", 2), ("x = 1\nassert (x, 'why')\n", 2), ("x = 1\n\nif x is 3:\n    pass\n", 3)],
)
def test_a_warning_of_the_compiler_stands_on_its_line(text: str, line: int) -> None:
    (finding,) = check_rule(PythonSyntaxWarning, text, path="a.py")

    assert finding.span.line == line
    assert finding.message.startswith("Python warns: ")
    assert finding.severity == "warning"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("y = '\\d'\n", (1, 6)),
        ('x = 1\n"""\na\nb \\\\d \\d\n"""\n', (4, 7)),
    ],
)
def test_an_escape_is_pointed_at_where_it_stands(text: str, place: tuple[int, int]) -> None:
    (finding,) = check_rule(PythonSyntaxWarning, text, path="a.py")

    assert (finding.span.line, finding.span.column) == place


@pytest.mark.parametrize(
    ("asked", "severity"), [(">=3.99", "info"), (">=3.9,<3.99", "error"), (">= 3.99.1, <4", "info")]
)
def test_what_is_for_a_newer_python_is_no_error(write: Write, asked: str, severity: str) -> None:
    root = write({"pyproject.toml": f'[project]\nrequires-python = "{asked}"\n', "pkg/a.py": "x = (\n"})

    (finding,) = [item for item in report(root, "sources").findings if item.code == "SYS006"]

    assert finding.severity == severity
    assert ("it is for Python 3.99" in finding.message) == (severity == "info")


@pytest.mark.parametrize("text", ["def f(:\n", "x = 1\n  y = 2\n", "return 1\n", "x = \x0c(\n"])
def test_a_file_that_does_not_compile_is_a_finding_and_no_pass(
    write: Write, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    root = write({"a.py": text, "b.py": "x = 1\n"})

    code, out, _ = cli(capsys, "sources", str(root), "--format", "concise")

    assert code == 1
    assert "SYS006" in out
    assert "cannot parse the file" in out


def test_nothing_of_a_file_is_run(write: Write) -> None:
    root = write({"a.py": "import pathlib\npathlib.Path(__file__ + '.ran').touch()\n"})

    assert brief(report(root, "sources").findings) == []
    assert [path.name for path in root.glob("*.*") if path.suffix in (".py", ".ran")] == ["a.py"]


FILES = {"pkg/core.py": "", "pkg/config/a.yaml": "", "tests/test_a.py": ""}


@pytest.mark.parametrize(
    "config",
    [
        '[sources.docstrings]\nfiles = ["/pkg/core.py"]\nexports = ["/pkg/"]\n',
        '[sources.docstrings]\nfiles = ["/pkg/*_old.py"]\n',
        '[sources.yaml-comments]\nfiles = ["/pkg/config/a.yaml"]\n',
        '[[sources.layout]]\ntests = "tests"\nsources = "pkg"\n',
        "",
    ],
)
def test_paths_that_are_there_and_wildcards_are_silent(config: str) -> None:
    assert check_rule(StaleSourcePath, config, path="example-sanity.toml", files=FILES) == []


@pytest.mark.parametrize(
    ("config", "line", "words"),
    [
        ('[sources.docstrings]\nfiles = ["/pkg/cores.py"]\n', 2, "docstrings.files names /pkg/cores.py"),
        ('[sources.devices]\npaths = ["/pgk/"]\n', 2, "devices.paths names /pgk/"),
        ('[[sources.layout]]\ntests = "tests"\nsources = "pgk"\n', 1, "layout names /pgk/"),
    ],
)
def test_a_path_that_is_not_there_is_found(config: str, line: int, words: str) -> None:
    found = check_rule(StaleSourcePath, config, path="example-sanity.toml", files=FILES)

    assert [(item.span.line, words in item.message) for item in found] == [(line, True)]


def test_of_a_preset_only_what_this_repository_could_have_counts(write: Write) -> None:
    root = write({"a.py": "# Copyright 2026 Bytedance Ltd. and/or its affiliates\n"})
    assert report(root, "sources", preset="verl").findings == ()

    (root / "verl/trainer/ppo").mkdir(parents=True)
    (root / "verl/trainer/ppo/core_algos.py").write_text(
        "# Copyright 2026 Bytedance Ltd. and/or its affiliates\n"
    )
    stale = [item.message for item in report(root, "sources", preset="verl").findings]
    assert any("docstrings.files names /verl/trainer/ppo/ray_trainer.py" in message for message in stale)


@pytest.mark.parametrize(
    "text",
    [
        f"x = {' + '.join(['a.b', *['1'] * 2000])}\n",
        f"x = a{'.b()' * 800}\n",
        "if a == 0:\n    import os\n" + "".join(f"elif a == {n}:\n    import os\n" for n in range(800)),
    ],
    ids=["sum", "calls", "branches"],
)
def test_deeply_nested_text_is_read(write: Write, text: str) -> None:
    config = """\
[[sources.banned]]
names = ["banned"]
[sources.devices]
paths = ["*.py"]
[sources.docstrings]
files = ["*.py"]
exports = ["*.py"]
imported-by = ["*.py"]
[sources.annotations]
minimum = 0.5
"""
    root = write({"a.py": f"{text}cuda = banned\n", "example-sanity.toml": config})

    codes = [line.split()[1] for line in brief(report(root, "sources").findings)]

    # How deep is too deep for the compiler itself is another thing in each version of Python.
    assert codes in (["SRC003"], ["SYS006"])
