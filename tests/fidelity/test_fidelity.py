"""The sandbox records what real bash would run, for every shell script of this repository and for others on demand."""

from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity.launch import realbash
from example_sanity.launch.scenario import Scenario, scenarios
from example_sanity.launch.syntax import parse
from fidelity.harness import Comparison, Tally, compare, shell_files

ROOT = Path(__file__).parents[2]
GAPS = Path(__file__).parent / "gaps"
OWN = [path for folder in ("tests", "examples") for path in shell_files(ROOT / folder) if path.parent != GAPS]

pytestmark = pytest.mark.real_bash


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def compared(path: str) -> list[Comparison]:
    """The script as it is started without anything, and in each of its scenarios."""
    data = (ROOT / path).read_bytes()
    found = [Scenario(name="bare"), *scenarios(parse(path, data))]
    if (found[1].placeholders, found[1].arguments) == ({}, ()):
        del found[1]
    return [compare(path, data, ROOT, scenario) for scenario in found]


def test_real_bash_can_be_shut_in_here() -> None:
    assert realbash.refusal() is None


@pytest.mark.parametrize("path", names(OWN))
def test_our_scripts_are_identical(path: str) -> None:
    for comparison in compared(path):
        assert comparison.identical, comparison.difference()
        assert comparison.environments_equal
        assert comparison.sandbox.stdout == comparison.real.stdout
        assert (comparison.sandbox.status == 0) == (comparison.real.status == 0)


@pytest.mark.parametrize("path", names(list(shell_files(GAPS))))
def test_known_gaps_are_still_there(path: str) -> None:
    """docs/evaluation.md lists them; one that has closed leaves the list."""
    comparison = compare(path, (ROOT / path).read_bytes(), ROOT)
    assert comparison.counted
    assert not comparison.identical
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    assert f"`{Path(path).name}`" in page


def test_rewriting_keeps_the_meaning_in_real_bash(tmp_path: Path) -> None:
    """The text that the sandbox reads is ordinary bash: real bash does with it what it does with the original."""
    from example_sanity.launch.normalise import normalise

    for path in shell_files(Path(__file__).parent / "scripts"):
        if path.parent.name == "lib" or path.name == "follow.sh":
            continue
        data = path.read_bytes()
        scenario = scenarios(parse("run.sh", data))[0]
        rewritten = normalise(data.decode(), "0", False).text.encode()
        runs = [realbash.evaluate(parse("run.sh", text), scenario, tmp_path) for text in (data, rewritten)]
        assert [c.argv for c in runs[0].commands] == [c.argv for c in runs[1].commands], path.name
        assert runs[0].status == runs[1].status, path.name


@pytest.mark.corpus
def test_other_repositories(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally()
    for path in shell_files(corpus):
        tally.add(compare(str(path.relative_to(corpus)), path.read_bytes(), corpus))
    with capsys.disabled():
        print(f"\n{corpus.name}: {tally.identical} of {tally.counted} scripts identical")
        print("".join(f"  {difference}\n" for difference in tally.differences), end="")
    assert tally.identical >= 0.99 * tally.counted
