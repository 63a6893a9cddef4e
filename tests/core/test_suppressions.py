"""Inline suppressions: what they cover, in every kind of file, and what is kept of a suppressed finding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core import suppressions
from example_sanity.core.comments import HashComments
from helpers import Write, brief
from spy import registry, spy

REGISTRY = registry()


def active(write: Write, name: str, text: str) -> list[str]:
    findings = spy(write({name: text})).findings
    return brief(tuple(finding for finding in findings if finding.code.startswith("SPY")))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", "# sanity: ignore[SPY001] why\npython3 \\\n  BAD \\\n  BAD\n"),
        ("a.sh", "X=(\n  BAD  # sanity: ignore[bad-word] why\n)\n"),
        ("a.sh", "# sanity: ignore-file[spy] why\nBAD\n\nBAD\n"),
        ("a", "#!/bin/bash\n# sanity: ignore[SPY001] why\nBAD\n"),
        ("a.py", "x = BAD  # noqa: X  # sanity: ignore[SPY] why\n"),
        ("a.py", "# sanity: ignore[IGN005, SPY001] why\nx = f(\n    BAD,\n)\n"),
        ("a.yml", "# sanity: ignore[SPY001] why\nkey:\n  - BAD\n"),
        ("a.toml", "key = 'BAD'  # sanity: ignore[SPY001] why\n"),
        ("CODEOWNERS", "# sanity: ignore[SPY001] why\nBAD @x\n"),
        ("a.md", "<!-- sanity: ignore[SPY001] why -->\n\n```\nBAD\n```\n"),
        ("a.rst", ".. sanity: ignore[SPY001] why\n\n::\n\n   BAD\n"),
        ("bad.sh", "# sanity: ignore-file[SPY002] why\necho\n"),
    ],
)
def test_suppressed(write: Write, name: str, text: str) -> None:
    assert active(write, name, text) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.sh", "# sanity: ignore[SPY001] why\necho\nBAD\n", ["a.sh:3 SPY001"]),
        ("a.sh", "# sanity: ignore[SPY002] why\nBAD\n", ["a.sh:2 SPY001"]),
        ("a.sh", "BAD \\\n  BAD # sanity: ignore[SPY001] why\n", ["a.sh:1 SPY001"]),
        ("bad.sh", "# sanity: ignore[SPY002] why\necho\n", ["bad.sh:1 SPY002"]),
        ("a.sh", "# sanity: disable SPY001\nBAD\n", ["a.sh:2 SPY001"]),
        ("a.txt", "# sanity: ignore[SPY001] why\nBAD\n", ["a.txt:2 SPY001"]),
    ],
)
def test_not_suppressed(write: Write, name: str, text: str, expected: list[str]) -> None:
    assert active(write, name, text) == expected


def test_a_suppressed_finding_is_kept_with_the_place_and_the_reason(write: Write) -> None:
    root = write({"a.sh": "#\n# sanity: ignore[SPY001] until #12 is done\nBAD\n"})

    report = spy(root)

    assert report.findings == ()
    assert brief(report.suppressed) == ["a.sh:3 SPY001"]
    assert report.suppressed[0].suppressed_by == "inline a.sh:2: until #12 is done"


def test_the_narrowest_suppression_counts(write: Write) -> None:
    text = "# sanity: ignore-file[SPY001] all\n# sanity: ignore[SPY001] one\nBAD\n"

    report = spy(write({"a.sh": text}))

    assert [finding.suppressed_by for finding in report.suppressed] == ["inline a.sh:2: one"]
    assert brief(report.findings) == ["a.sh:1 IGN005"]


def test_a_file_that_is_no_text_is_a_finding_and_no_crash(write: Write) -> None:
    root = write({"a.sh": b"# sanity: ignore[SPY001] why\n\xff\n"})

    assert brief(spy(root).findings) == ["a.sh:1 SYS002"]


@given(
    words=st.lists(st.sampled_from(["SPY001", "bad-name", "NAM", "mesh", "SPY9"]), min_size=1, max_size=4),
    reason=st.text(alphabet="abc #[],é", max_size=12),
    whole=st.booleans(),
    separator=st.sampled_from([",", ", ", " , "]),
)
def test_what_is_written_is_read(words: list[str], reason: str, whole: bool, separator: str) -> None:
    kind = "ignore-file" if whole else "ignore"
    text = f"# sanity: {kind}[{separator.join(words)}] {reason}\nkey: value\n"

    (found,) = suppressions.read("a.yml", text, HashComments(), REGISTRY)

    assert (found.words, found.reason) == (tuple(words), reason.strip())
    assert found.covers == (None if whole else (2, 2))
    assert set(found.unknown) == {"SPY9"} & set(words)
    assert set(found.codes) == set(words) - {"SPY9"}


@given(st.text(alphabet="sanity: ignore[]-fileX,", max_size=40))
def test_no_comment_is_too_strange(text: str) -> None:
    suppressions.read("a.yml", f"# sanity{text}\nkey: 1\n", HashComments(), REGISTRY)
