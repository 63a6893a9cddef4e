"""The baseline: what it accepts, what survives an edit, what is stale, and broken files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core import baseline as baselines
from example_sanity.core.baseline import Baseline
from example_sanity.core.errors import UsageError
from helpers import Write, brief
from spy import open_run, spy

FILES = {"a.txt": "BAD1\nfine\nBAD2\n", "bad.txt": "fine\n"}


def accept(root: Path) -> Baseline:
    """Write a baseline with all that is there now."""
    found = Baseline(baselines.DEFAULT, {}).extended(spy(root).findings)
    found.write(root)
    return found


def test_without_a_file_there_is_none(tmp_path: Path) -> None:
    assert baselines.load(tmp_path, None) is None


def test_accepted_findings_are_suppressed_and_counted(write: Write) -> None:
    root = write(FILES)
    accept(root)

    report = spy(root)

    assert report.findings == ()
    assert brief(report.suppressed) == ["a.txt:1 SPY001", "a.txt:3 SPY001", "bad.txt:1 SPY002"]
    assert {finding.suppressed_by for finding in report.suppressed} == {"baseline"}
    assert report.baselined == 3


def test_fingerprints_survive_moved_lines_and_new_first_lines(write: Write) -> None:
    root = write(FILES)
    accept(root)

    write({"a.txt": "new\nBAD2\n\n   BAD1\n", "bad.txt": "#!/bin/bash\nfine\n"})

    assert spy(root).findings == ()


def test_a_new_finding_beside_an_accepted_one_is_new(write: Write) -> None:
    root = write(FILES)
    accept(root)

    write({"a.txt": "BAD1\nBAD1\nBAD2\nBAD3\n"})

    assert brief(spy(root).findings) == ["a.txt:2 SPY001", "a.txt:4 SPY001"]


def test_what_is_gone_is_reported_at_its_entry(write: Write) -> None:
    root = write(FILES)
    accept(root)
    write({"a.txt": "fine\n", "bad.txt": "fine\n"})

    (finding,) = spy(root).findings

    assert (finding.code, finding.path, finding.span.line) == ("IGN008", baselines.DEFAULT, 5)
    assert finding.message == (
        "2 baselined findings of SPY001 bad-word in a.txt are gone; drop what is fixed: example-sanity baseline"
    )


def test_an_accepted_finding_that_is_suppressed_inline_is_not_needed_in_the_baseline(write: Write) -> None:
    root = write({"a.sh": "BAD1\n"})
    accept(root)
    write({"a.sh": "BAD1 # sanity: ignore[SPY001] why\n"})

    assert brief(spy(root).findings) == [f"{baselines.DEFAULT}:5 IGN008"]


def test_only_what_the_run_looked_for_is_stale(write: Write) -> None:
    root = write({**FILES, "sub/a.txt": "BAD\n"})
    accept(root)
    (root / "a.txt").unlink()
    run = open_run(root)

    only_ignores = run.check([run.registry.family("ignores")])
    elsewhere = spy(root, "sub")
    with_environment = spy(root, environment={"A": "1"})

    assert only_ignores.findings == elsewhere.findings == with_environment.findings == ()
    assert brief(spy(root).findings) == [f"{baselines.DEFAULT}:5 IGN008"]


def test_nothing_is_stale_in_a_file_that_cannot_be_read(write: Write) -> None:
    root = write(FILES)
    accept(root)
    write({"a.txt": b"\xff\xfe"})

    assert [finding.code for finding in spy(root).findings] == ["SYS002"]


def test_an_entry_of_an_unknown_rule_is_stale(write: Write) -> None:
    root = write({"a.txt": "fine\n"})
    Baseline(baselines.DEFAULT, {"a.txt": {"OLD001": ["0" * 16]}}).write(root)

    (finding,) = spy(root).findings

    assert "OLD001, which is no rule any more, in a.txt is gone" in finding.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is broken: Expecting value: line 1 column 1"),
        ("{}", "is broken: Object missing required field `version`"),
        ('{"version": 1, "findings": {"a": ["b"]}}', "is broken: Expected `object`, got `array`"),
        ('{"version": 1, "findings": {}, "more": 1}', "is broken: Object contains unknown field `more`"),
        ('{\n<<<<<<< HEAD\n"version": 1}', "is broken: it holds conflict markers of a merge"),
        ('{"version": 2, "findings": {}}', "has version 2, and this program reads version 1"),
    ],
)
def test_a_broken_file_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / baselines.DEFAULT).write_text(text)

    with pytest.raises(UsageError, match=f".*{message}"):
        baselines.load(tmp_path, None)


def test_a_file_that_the_configuration_names_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no baseline old\.json"):
        baselines.load(tmp_path, "old.json")


def test_a_file_that_cannot_be_written_or_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write the baseline"):
        Baseline("none/b.json", {}).write(tmp_path)
    (tmp_path / baselines.DEFAULT).mkdir()
    with pytest.raises(UsageError, match="cannot read the baseline"):
        baselines.load(tmp_path, None)


NAMES = st.sampled_from(["a", "b/c", 'q"', "é", "\udcff"])
TRIPLES = st.lists(st.tuples(NAMES, st.sampled_from(["NAM001", "IGN002"]), st.sampled_from("0123")))


@given(first=TRIPLES, second=TRIPLES)
def test_removing_and_reading_back(
    tmp_path_factory: pytest.TempPathFactory, first: list[baselines.Triple], second: list[baselines.Triple]
) -> None:
    root = tmp_path_factory.mktemp("b")
    entries: baselines.Entries = {}
    for path, code, fingerprint in first:
        entries.setdefault(path, {}).setdefault(code, []).append(fingerprint)
    kept = Baseline(baselines.DEFAULT, entries).without(second)

    kept.write(root)
    read = baselines.load(root, None)

    assert read is not None
    assert read.triples() == kept.triples() == sorted(set(first) - set(second))
    lines = (root / baselines.DEFAULT).read_text().split("\n")
    for path, code, _ in read.triples():
        assert f'"{code}": [' in lines[read.line(path, code) - 1]
