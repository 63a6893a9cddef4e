"""DOC006-009: listings, indexes and links into documents."""

from __future__ import annotations

import pytest

from example_sanity.checks.docs.listings import GhostEntry, UnlistedScript
from example_sanity.checks.docs.references import DeadAnchor, MissingFromIndex
from example_sanity.core.rule import Rule
from example_sanity.testing import check_rule

RUN = "python3 train.py\n"
FILES = {
    **{f"examples/{name}/run_a_fsdp.sh": RUN for name in ("ppo", "grpo", "remax", "rloo")},
    "examples/notes/a.md": "# A\n",
    **{f"examples/ppo/run_{name}_fsdp.sh": RUN for name in ("b", "c", "d")},
}


@pytest.mark.parametrize(
    "text",
    [
        "## Set up {: #start }\n\n[a](#start)\n",
        "## Set up {#start .big}\n\n[a](#start) [b](#set-up)\n",
        "{#start}\n## Set up\n\n[a](#start)\n",
        "## \U0001f6e0\ufe0f Install\n\n[a](#%EF%B8%8F-install) [b](#-install)\n",
    ],
)
def test_headings_with_an_attribute_or_an_emoji(text: str) -> None:
    assert said(DeadAnchor, text, "a.md") == []


def said(rule: type[Rule], text: str, path: str, **files: str) -> list[str]:
    items = check_rule(rule, text, path=path, files=files)
    return [f"{item.span.line}:{item.span.column} {item.message}" for item in items]


def table(*names: str) -> str:
    return "| Dir | For |\n|---|---|\n" + "".join(f"| `{name}/` | x |\n" for name in names)


@pytest.mark.parametrize(
    "text",
    [
        table("ppo", "grpo", "remax", "rloo"),
        table("ppo", "grpo", "remax") + "\nrloo is elsewhere\n",
        table("ppo", "grpo"),
        "| Word |\n|---|\n| `adam/` |\n| `sgd/` |\n| `ppo/` |\n| `x/` |\n",
        "`ppo/`, `grpo/`, `remax/`, `gone/`\n",
    ],
)
def test_listings_that_are_whole_or_none_are_silent(text: str) -> None:
    assert said(UnlistedScript, text, "examples/README.md", **FILES) == []
    assert said(GhostEntry, text, "examples/README.md", **FILES) == []


def test_listings_that_leave_one_out() -> None:
    assert said(UnlistedScript, table("ppo", "grpo", "remax"), "examples/README.md", **FILES) == [
        "5:4 the listing leaves out the folder rloo, though it has 3 of 4"
    ]
    scripts = "- `run_a_fsdp.sh`: a\n- `run_b_fsdp.sh`: b\n- `run_c_fsdp.sh`: c\n"
    assert said(UnlistedScript, scripts, "examples/ppo/README.md", **FILES) == [
        "3:4 the listing leaves out the script run_d_fsdp.sh, though it has 3 of 4"
    ]


def test_listings_with_ghosts() -> None:
    text = table("ppo", "grpo", "remax", "rlo", "gone")
    assert said(GhostEntry, text, "examples/README.md", **FILES) == [
        "6:4 there is no rlo/ in examples/; the nearest is rloo",
        "7:4 there is no gone/ in examples/",
    ]


DOCS = {
    "docs/conf.py": "extensions = ['myst_parser']\nexclude_patterns = ['_build']\nexclude_patterns += ['old.md', 'drafts']\n",
    "docs/index.rst": "Index\n=====\n\n.. toctree::\n   :glob:\n\n   start\n   guides/*\n\nSee :ref:`here`.\n\n.. _here:\n",
    "docs/start.md": "# Start\n\n```{include} part.md\n```\n",
    "docs/part.md": "part\n",
    "docs/guides/a.md": "# A\n",
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docs/start.md", DOCS["docs/start.md"]),
        ("docs/part.md", "part\n"),
        ("docs/guides/b.md", "# B\n"),
        ("docs/old.md", "# Old\n"),
        ("docs/drafts/x.md", "# X\n"),
        ("docs/README.md", "# How to build\n"),
        ("docs/orphan.md", "---\norphan: true\n---\n# O\n"),
        ("other/page.md", "# P\n"),
    ],
)
def test_pages_in_an_index_or_that_need_none_are_silent(path: str, text: str) -> None:
    assert said(MissingFromIndex, text, path, **DOCS) == []


def test_templates_and_projects_of_mkdocs_have_no_toctree() -> None:
    conf = "extensions = ['myst_parser']\ntemplates_path = ['parts']\n"
    assert said(MissingFromIndex, "# C\n", "docs/parts/c.md", **{**DOCS, "docs/conf.py": conf}) == []
    assert said(MissingFromIndex, "# B\n", "docs/b.md", **{**DOCS, "mkdocs.yml": "docs_dir: docs\n"}) == []


def test_an_anchor_that_names_an_object_of_the_api_is_silent() -> None:
    text = "[a](#app.train.Trainer) [b](#gone)\n"
    assert said(DeadAnchor, text, "docs/x.md", **DOCS) == ["1:29 this document has no heading for #gone"]


def test_pages_in_no_index_and_entries_without_a_page() -> None:
    assert said(MissingFromIndex, "# B\n", "docs/b.md", **DOCS) == [
        "1:1 no toctree below docs/ names this page, so no menu leads to it"
    ]
    index = DOCS["docs/index.rst"].replace("   start\n", "   strat\n   start\n")
    assert said(MissingFromIndex, index, "docs/index.rst", **DOCS) == [
        "7:4 the toctree names strat, and there is no such page (did you mean 'start'?)"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# Set Up!\n\n[a](#set-up) [b](#own) [c](b.md#there) [d](gone.md#x) [e](x.py#L3) [f](b.rst#any)\n<a name='own'></a>\n",
        "[a](https://x.org/#gone) [b](#) [c](#L12)\n",
    ],
)
def test_links_that_lead_somewhere_are_silent(text: str) -> None:
    assert said(DeadAnchor, text, "a.md", **{"b.md": "## There\n", "b.rst": "B\n=\n", "x.py": ""}) == []


def test_links_that_lead_nowhere() -> None:
    assert said(
        DeadAnchor, "# Set up\n\n[a](#setup) [b](b.md#there)\n", "a.md", **{"b.md": "## Where\n"}
    ) == [
        "3:5 this document has no heading for #setup; the nearest is #set-up",
        "3:17 b.md has no heading for #there; the nearest is #where",
    ]
    assert said(DeadAnchor, ":ref:`heer`\n", "docs/x.rst", **DOCS) == [
        "1:7 no document has the label heer (did you mean 'here'?)"
    ]
