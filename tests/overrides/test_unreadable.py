"""Configurations that cannot be read, or only with a choice: a finding or silence, never an end of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import Write, report
from overrides.program import launcher

CONFIG = "app/config/train.yaml"
WIDE = "a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"a{n}: &a{n} {{{', '.join(f'k{k}: *a{n - 1}' for k in range(9))}}}\n" for n in range(1, 9)
)


def found(root: Path) -> list[str]:
    result = report(root, "overrides").findings
    return [f"{item.span.line} {item.code} {item.message}" for item in result]


@pytest.mark.parametrize("text", ["lr: [", "a: &a {b: *a}\n", WIDE, f"a: {'[' * 5000}\n"])
def test_a_configuration_that_is_no_finite_yaml_is_one_finding(write: Write, text: str) -> None:
    (line,) = found(write({**launcher("lr=3", "lx=2"), CONFIG: text}))

    assert line.startswith("1 OVR007 Hydra cannot compose train (app/config): ")


def test_a_configuration_that_is_mended_is_looked_at_again(write: Write) -> None:
    root = write({**launcher("lr=3"), CONFIG: "lr: ["})
    assert [line[:8] for line in found(root)] == ["1 OVR007"]

    (root / CONFIG).write_text("lr: 1\n")

    assert found(root) == []


def test_an_entry_that_wants_a_choice_is_satisfied_by_the_launcher(write: Write) -> None:
    wanting = {CONFIG: "defaults:\n  - engine: ???\nlr: 1\n"}

    assert found(write({**launcher("engine=dp", "lr=3"), **wanting})) == []
    assert [line[:8] for line in found(write({**launcher("lr=3"), **wanting}))] == ["1 OVR007"]
