"""SRC001: which files lack a licence notice, where one counts, and what the fix inserts."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from example_sanity.checks.sources.header import LicenceHeader
from example_sanity.testing import check_rule
from helpers import Write, cli

LICENCE = {
    "paths": ["*.py", "*.sh", "*.cu", "*.md"],
    "notices": ["Copyright {year} Example Ltd. and/or its affiliates", "Copyright (c) {year}, Other Corp."],
    "template": "Copyright {year} Example Ltd. and/or its affiliates\n\nAll rights reserved.",
}
NOTICE = "Copyright 2025 Example Ltd. and/or its affiliates"


def found(text: str, path: str = "pkg/a.py", **more: object) -> list[str]:
    options = {"licence": {**LICENCE, **more}}
    return [item.message for item in check_rule(LicenceHeader, text, path=path, options=options)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", f"# {NOTICE}\nx = 1\n"),
        ("a.py", f"#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n\n# {NOTICE}\n"),
        ("a.py", f'"""A tool.\n\n{NOTICE}\n"""\n'),
        ("a.py", f"\ufeff# {NOTICE}\n"),
        ("a.py", "# Copyright 2023-2024 Example Ltd. and/or its affiliates\n"),
        ("a.py", "# Copyright 2023, 2025 Example Ltd. and/or its affiliates\n"),
        ("a.py", "# Adapted from elsewhere.\n\n# Copyright (c) 2024, Other Corp.\n"),
        ("a.sh", f"#!/bin/bash\n# {NOTICE}\n"),
        ("a.cu", f"/*\n * {NOTICE}\n */\nint x;\n"),
        ("a.cu", f"// {NOTICE}\n"),
        ("a.md", f"<!-- {NOTICE} -->\n# Title\n"),
        ("a.js", "let x;\n"),
    ],
)
def test_a_notice_at_the_top_counts_in_the_comments_of_each_language(path: str, text: str) -> None:
    assert found(text, path) == []


def test_without_configuration_nothing_is_said() -> None:
    assert check_rule(LicenceHeader, "x = 1\n", path="a.py") == []


@pytest.mark.parametrize("text", ["", "x = 1\n", "# A tool.\nx = 1\n"])
def test_a_file_without_a_notice_is_found(text: str) -> None:
    assert found(text) == [
        "the file does not start with a licence notice; "
        "put 'Copyright YEAR Example Ltd. and/or its affiliates' into its first comment"
    ]


def test_a_notice_in_a_string_of_the_program_does_not_count() -> None:
    (message,) = found(f"x = 1\nTEXT = '{NOTICE}'\n")

    assert "(what line 2 says counts only in the comments at the top, within 30 lines)" in message


def test_a_notice_too_far_down_does_not_count() -> None:
    assert found("#\n" * 9 + f"# {NOTICE}\n", within=10) == []
    assert len(found("#\n" * 10 + f"# {NOTICE}\n", within=10)) == 1


def test_a_holder_that_is_not_accepted_is_shown_with_the_nearest_that_is() -> None:
    assert found("# Copyright 2025 Exampel Ltd. and/or its affiliates\n") == [
        "no accepted licence notice: 'Copyright 2025 Exampel Ltd. and/or its affiliates'; "
        "the nearest accepted one is 'Copyright YEAR Example Ltd. and/or its affiliates'"
    ]


@pytest.mark.parametrize(
    ("line", "messages"),
    [
        ("# SPDX-License-Identifier: Apache-2.0", []),
        ("# SPDX-License-Identifier: MIT", ["the licence is MIT, and it should be Apache-2.0"]),
        ("#", ["the first comment does not name the licence; add 'SPDX-License-Identifier: Apache-2.0'"]),
    ],
)
def test_the_licence_must_be_one_of_those_that_are_named(line: str, messages: list[str]) -> None:
    assert found(f"# {NOTICE}\n{line}\n", spdx=["Apache-2.0"]) == messages


CONFIG = """\
[sources.licence]
paths = ["*.py", "*.sh", "*.cu", "*.md"]
notices = ["Copyright {year} Example Ltd."]
template = "Copyright {year} Example Ltd."
"""


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "x = 1\n", "# {}\n\nx = 1\n"),
        ("a.py", "", "# {}\n"),
        ("a.py", "#!/usr/bin/python\n# Does it.\n", "#!/usr/bin/python\n# {}\n# Does it.\n"),
        ("a.sh", "#!/bin/bash\nset -e\n", "#!/bin/bash\n# {}\n\nset -e\n"),
        ("a.cu", "int x;\n", "// {}\n\nint x;\n"),
        ("a.md", "# Title\n", "<!--\n{}\n-->\n\n# Title\n"),
    ],
)
def test_the_fix_inserts_the_template_below_the_shebang(
    write: Write, capsys: pytest.CaptureFixture[str], path: str, before: str, after: str
) -> None:
    root = write({path: before, "example-sanity.toml": CONFIG})

    code, _, _ = cli(capsys, "sources", str(root), "--fix", "--select", "SRC001")

    assert code == 0
    assert (root / path).read_text() == after.format(f"Copyright {date.today().year} Example Ltd.")


@pytest.mark.parametrize(
    "text",
    ["# Copyright 2020 Somebody.\nx = 1\n", "x = 1\n# Taken over, Copyright (c) 2020 Somebody.\ny = 2\n"],
)
def test_a_file_with_a_notice_of_somebody_else_is_left_alone(
    write: Write, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    root: Path = write({"a.py": text, "example-sanity.toml": CONFIG})

    assert cli(capsys, "sources", str(root), "--fix", "--select", "SRC001")[0] == 1
    assert (root / "a.py").read_text() == text
