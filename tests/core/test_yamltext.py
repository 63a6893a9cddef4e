"""Loading YAML of others: what is finite is loaded, what multiplies or contains itself is refused."""

from __future__ import annotations

import pytest
import yaml

from example_sanity.core import yamltext

NINE = ", ".join(["{0}"] * 9)
WIDE = "a0: &a0 [x, y]\n" + "".join(f"a{n}: &a{n} [{NINE.format(f'*a{n - 1}')}]\n" for n in range(1, 9))


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", None),
        ("a: 1\n", {"a": 1}),
        ("a: &a [1, 2]\nb: *a\n", {"a": [1, 2], "b": [1, 2]}),
        ("a: &a {x: 1}\nb:\n  <<: *a\n  y: 2*3\n", {"a": {"x": 1}, "b": {"x": 1, "y": "2*3"}}),
    ],
)
def test_what_is_finite_is_loaded(text: str, data: object) -> None:
    assert yamltext.load(text) == data


@pytest.mark.parametrize("text", [WIDE, "a: &a [*a]\n", "a: &a {b: *a}\n", f"a: {'[' * 5000}", "a: [", "*a"])
def test_what_is_not_is_refused(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        yamltext.load(text)
