"""SRC010 and SRC011 and the command ``pr``: titles and texts of pull requests, from options and from an event."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from example_sanity.checks.sources.pullrequest import PrBody, PrTitle
from example_sanity.core.textfiles import PULL_REQUEST_FILE
from example_sanity.testing import check_rule
from helpers import Write, cli

Capture = pytest.CaptureFixture[str]
TITLES = {"modules": ["fsdp", "ckpt", "doc"], "types": ["feat", "fix"], "prefixes": ["BREAKING", "N/M"]}


def title(text: str) -> list[str]:
    options = {"pull-request": TITLES}
    return [
        item.message for item in check_rule(PrTitle, f"{text}\n", path=PULL_REQUEST_FILE, options=options)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[fsdp] fix: resume",
        "[fsdp, ckpt] feat: save: and load",
        "[fsdp,ckpt] feat: x",
        "[FSDP] Fix: x",
        "[1/N][fsdp] fix: x",
        "[10/N][fsdp] fix: x",
        "[2/13] [fsdp] fix: x",
        "[BREAKING][1/N][fsdp] fix: x",
        "[1/N][BREAKING][fsdp] fix: x",
        "[breaking] [fsdp] fix: x",
    ],
)
def test_titles_of_the_form_are_silent_prefixes_in_any_order(text: str) -> None:
    assert title(text) == []


THERE = "there are: fsdp, ckpt, doc"
FORM = "'[fsdp,ckpt] feat: what it does'"


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("[,] fix: x", [f"[,] names no module; {THERE}"]),
        ("[ ] fix: x", [f"[] names no module; {THERE}"]),
        ("[fsdp,] fix: x", [f"[fsdp,] names an empty module; {THERE}"]),
        ("[fdsp] fix: x", [f"there is no module 'fdsp' (did you mean 'fsdp'?); {THERE}"]),
        ("[fsdp] fixx: x", ["there is no type 'fixx' (did you mean 'fix'?); there are: feat, fix"]),
        ("[fsdp] fix:", ["the title says nothing behind 'fix'"]),
        ("[fsdp]fix: x", [f"the type stands between spaces, as in {FORM}"]),
        ("[fsdp] fix:x", [f"the type stands between spaces, as in {FORM}"]),
        ("[fsdp][BREAKING] fix: x", ["[BREAKING] belongs in front of [fsdp]"]),
        ("[1/N][2/N][fsdp] fix: x", ["[N/M] stands there twice"]),
        ("[fsdp][ckpt] fix: x", ["name all modules in one pair of brackets: [fsdp, ckpt]"]),
        ("fix: x", [f"the title names no module; it should look like {FORM}"]),
        (
            "[fsdp] resume",
            [f"behind the modules the title needs a type and a colon, as in {FORM}; types are: feat, fix"],
        ),
    ],
)
def test_a_title_of_another_form_is_told_what_is_wrong(text: str, messages: list[str]) -> None:
    assert title(text) == messages


TEMPLATE = "### What does it do?\n\n> Say it.\n\n<!-- a hint -->\n\n### Test\n\n- [ ] Tested\n"
FILES = {".github/TEMPLATE.md": TEMPLATE}
TEXTS = {"template": ".github/TEMPLATE.md", "sections": ["What does it do?"]}


def body(text: str) -> list[str]:
    options = {"pull-request": TEXTS}
    findings = check_rule(PrBody, f"t\n\n{text}", path=PULL_REQUEST_FILE, files=FILES, options=options)
    return [f"{item.span.line}: {item.message}" for item in findings]


@pytest.mark.parametrize(
    "text",
    [
        "### What does it do?\n\nResumes.\n",
        "### What does it do?\n\n> Say it.\n\nResumes.\n\n### Test\n",
        "Before.\n\n## What does it do? ##\nResumes.\n",
    ],
)
def test_a_text_that_says_something_is_silent(text: str) -> None:
    assert body(text) == []


NO_MORE = "section 'What does it do?' says no more than the template; replace what stands there"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: the text of the pull request is empty"),
        ("\n \n", "1: the text of the pull request is empty"),
        (TEMPLATE, f"3: {NO_MORE}"),
        (f"\n{TEMPLATE}", f"4: {NO_MORE}"),
        ("### What does it do?\n\n<!-- I will\nsay it -->\n> \n\n### Test\nx\n", f"3: {NO_MORE}"),
        ("Resumes.\n", "3: the text has no section 'What does it do?'; say there what the change does"),
    ],
)
def test_a_text_that_says_no_more_than_the_template_is_found(text: str, message: str) -> None:
    assert body(text) == [message]


CONFIG = """\
[sources.pull-request]
modules = ["fsdp"]
types = ["fix"]
template = "TEMPLATE.md"
sections = ["What does it do?"]
"""


@pytest.fixture
def root(write: Write, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GITHUB_EVENT_PATH", raising=False)
    root = write({"TEMPLATE.md": TEMPLATE, "example-sanity.toml": CONFIG})
    monkeypatch.chdir(root)
    return root


def event(root: Path, data: object) -> str:
    path = root / "event.json"
    path.write_text(json.dumps(data))
    return str(path)


@pytest.mark.usefixtures("root")
def test_options_give_title_and_text(capsys: Capture) -> None:
    good = "### What does it do?\nIt resumes.\n"

    assert cli(capsys, "pr", "--title", "[fsdp] fix: x", "--body", good)[0] == 0
    code, out, _ = cli(capsys, "pr", "--title", "x", "--body", good)
    assert code == 1
    assert "error[SRC010] pr-title: the title names no module" in out
    assert "SRC011" not in out


@pytest.mark.usefixtures("root")
def test_a_text_that_is_not_given_is_not_judged(capsys: Capture) -> None:
    assert cli(capsys, "pr", "--title", "[fsdp] fix: x")[0] == 0
    code, out, _ = cli(capsys, "pr", "--body", "")
    assert code == 1
    assert "SRC010" not in out


def test_the_text_comes_from_a_file_or_standard_input(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "body.md").write_text(TEMPLATE)

    assert cli(capsys, "pr", "--body-file", "body.md")[0] == 1
    monkeypatch.setattr("sys.stdin", io.StringIO("### What does it do?\nIt resumes.\n"))
    assert cli(capsys, "pr", "--body-file", "-")[0] == 0


def test_the_event_of_a_workflow_gives_both(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = event(root, {"pull_request": {"title": "[fsdp] fxi: x", "body": None}})
    monkeypatch.setenv("GITHUB_EVENT_PATH", path)

    code, out, _ = cli(capsys, "pr", "--format", "concise")

    assert code == 1
    assert "there is no type 'fxi'" in out
    assert "the text of the pull request is empty" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "which pull request? Give --title, --body or --body-file, or the event with --event"),
        (("--event", "none.json"), "cannot read the event none.json"),
        (("--event", "push.json"), "push.json is no event on a pull request: it has no pull_request.title"),
        (("--body", "x", "--body-file", "y"), "--body and --body-file exclude each other"),
        (("--body-file", "none.md"), "cannot read the text of the pull request from none.md"),
    ],
)
def test_a_wrong_call_is_a_usage_error(
    root: Path, capsys: Capture, arguments: tuple[str, ...], words: str
) -> None:
    (root / "push.json").write_text('{"ref": "main"}')

    code, _, err = cli(capsys, "pr", *arguments)

    assert code == 2
    assert words in err


def test_without_configuration_there_is_nothing_to_compare_with(
    write: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write({"a.py": "", "example-sanity.toml": ""}))

    code, _, err = cli(capsys, "pr", "--title", "x")

    assert code == 2
    assert "write [tool.example-sanity.sources.pull-request]" in err


def test_a_template_or_a_section_that_is_not_there_is_a_wrong_configuration(
    root: Path, capsys: Capture
) -> None:
    (root / "TEMPLATE.md").write_text("### What does it do\n")
    code, _, err = cli(capsys, "pr", "--body", "x")
    assert (code, "has no section 'What does it do?' (did you mean 'What does it do'?)" in err) == (2, True)

    (root / "TEMPLATE.md").unlink()
    code, _, err = cli(capsys, "pr", "--body", "x")
    assert (code, "there is no template TEMPLATE.md" in err) == (2, True)
