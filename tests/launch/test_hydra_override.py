"""Hydra's override grammar."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_sanity.launch.hydra_functions import Sweep
from example_sanity.launch.hydra_override import parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", ""),
        ("1", 1),
        ("-2", -2),
        ("+3", 3),
        ("1_000", 1000),
        ("0", 0),
        ("007", "007"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e-6", 1e-6),
        ("1E3", 1000.0),
        ("-1.5e+3", -1500.0),
        ("1e", "1e"),
        ("1.2.3", "1.2.3"),
        ("1-2", "1-2"),
        ("1a", "1a"),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("truely", "truely"),
        ("null", None),
        ("NULL", None),
        ("None", "None"),
        ("no", "no"),
        ("n", "n"),
        ("yes", "yes"),
        ("inf", math.inf),
        ("infra", "infra"),
        ("mlite_actor", "mlite_actor"),
        ("a-b", "a-b"),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("$HOME/x", "$HOME/x"),
        ("hdfs://a/b?c", "hdfs://a/b?c"),
        ("a:b", "a:b"),
        ("a b", "a b"),
        (" a ", "a"),
        ("*", "*"),
        ("'a b'", "a b"),
        ('"a,b"', "a,b"),
        ("''", ""),
        ("'1'", "1"),
        ("'null'", "null"),
        (r"'it\'s'", "it's"),
        (r"'a\\'", "a\\"),
        (r"'a\\\'b'", r"a\'b"),
        (r"'a\b'", r"a\b"),
        (r"a\,b", "a,b"),
        (r"a\ b", "a b"),
        (r"\(x\)", "(x)"),
        (r"\\", "\\"),
        ("${a.b}", "${a.b}"),
        ("${oc.env:HOME}/x", "${oc.env:HOME}/x"),
        ("[]", []),
        ("[a,b]", ["a", "b"]),
        ("[ a , 1 , null ]", ["a", 1, None]),
        ("['console','wandb']", ["console", "wandb"]),
        ("[[1],[2,3]]", [[1], [2, 3]]),
        ("[full]", ["full"]),
        ("[pkg://verl_mlite.config]", ["pkg://verl_mlite.config"]),
        ("{}", {}),
        ("{a:1}", {"a": 1}),
        ("{a: 1, b: [x,{c:null}]}", {"a": 1, "b": ["x", {"c": None}]}),
        ("{n:1,no:2}", {"n": 1, "no": 2}),
        ("{1:a}", {1: "a"}),
        ("{a b:c}", {"a b": "c"}),
        ("{a:1,a:2}", {"a": 2}),
        ("int(3.9)", 3),
        ("float(1)", 1.0),
        ("str(1)", "1"),
        ("str(true)", "true"),
        ("bool(True)", True),
        ("bool(0)", False),
        ("str([1,{a:2}])", ["1", {"a": "2"}]),
        ("int('3')", 3),
        ("sort([2,1])", [1, 2]),
        ("sort([a,b],reverse=true)", ["b", "a"]),
        ("sort(1)", 1),
        ("shuffle(a)", ["a"]),
        ("1,2", Sweep("choice", (1, 2))),
        ("a , [b]", Sweep("choice", ("a", ["b"]))),
        ("choice(a,b)", Sweep("choice", ("a", "b"))),
        ("choice(sort(2,1))", Sweep("choice", (1, 2))),
        ("range(3)", Sweep("range", (0, 3, 1))),
        ("range(1,10,step=2)", Sweep("range", (1, 10, 2))),
        ("interval(0,1)", Sweep("interval", (0.0, 1.0))),
        ("glob(*)", Sweep("glob", (("*",), ()))),
        ("glob([a*,b],exclude=c)", Sweep("glob", (("a*", "b"), ("c",)))),
        ("int(choice(1.5,2.5))", Sweep("choice", (1, 2))),
        ("int(1.5,2.5)", Sweep("choice", (1, 2))),
        ("tag(x,choice(1,2))", Sweep("choice", (1, 2), ("x",))),
    ],
)
def test_values(text: str, value: object) -> None:
    found = parse(f"a.b={text}")
    assert (found.key, found.error) == ("a.b", None)
    assert found.value == value
    assert type(found.value) is type(value)


def test_nan() -> None:
    value = parse("a=nan").value
    assert isinstance(value, float)
    assert math.isnan(value)


@pytest.mark.parametrize(
    ("word", "operation", "key", "package", "value"),
    [
        ("a=1", "set", "a", None, 1),
        ("+a.b-c._d=1", "add", "a.b-c._d", None, 1),
        ("++a=1", "force", "a", None, 1),
        ("~a", "delete", "a", None, None),
        ("~a=1", "delete", "a", None, 1),
        ("actor@x.y=mlite", "set", "actor", "x.y", "mlite"),
        ("+hydra/launcher=joblib", "add", "hydra/launcher", None, "joblib"),
        ("db@=x", "set", "db", "", "x"),
        ("a.0.b=1", "set", "a.0.b", None, 1),
        ("$a=1", "set", "$a", None, 1),
        ("a= 1", "set", "a", None, 1),
    ],
)
def test_keys(word: str, operation: str, key: str, package: str | None, value: object) -> None:
    found = parse(word)
    assert (found.operation, found.key, found.package, found.value) == (operation, key, package, value)
    assert found.error is None


@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("a", "there is no '=' in it"),
        ("", "there is no '=' in it"),
        ("+a", "there is no '=' in it"),
        ("--a=1", "'--a' is no key: expected names joined by dots, or group/name@package"),
        ("a[0]=1", "'a[0]' is no key: expected names joined by dots, or group/name@package"),
        ("a b=1", "'a b' is no key: expected names joined by dots, or group/name@package"),
        ("1a=1", "'1a' is no key: expected names joined by dots, or group/name@package"),
        ("a.=1", "'a.' is no key: expected names joined by dots, or group/name@package"),
        ("a=[1", "the value ends too early, expected ']'"),
        ("a=[1,", "the value ends too early"),
        ("a=1]", "unexpected ']' (column 4)"),
        ("a=[1,]", "unexpected ']' (column 6)"),
        ("a={b}", "unexpected '}' (column 5), expected ':'"),
        ("a={b:1", "the value ends too early, expected '}'"),
        ("a='x", 'character "\'" (column 3) must be quoted or escaped'),
        ("a='x'y", "unexpected 'y' (column 6)"),
        ("a=b=c", "unexpected '=' (column 4)"),
        ("a=http://h/x?y=z", "unexpected '=' (column 15)"),
        ("a=<path>", "character '<' (column 3) must be quoted or escaped"),
        ("a=é", "character 'é' (column 3) must be quoted or escaped"),
        ("a=x#y", "character '#' (column 4) must be quoted or escaped"),
        ("a=f(1)", "unknown function 'f'; there are bool, choice"),
        ("a=int(x)", "int(): invalid literal"),
        ("a=bool(x)", "bool(): 'x' is neither true nor false"),
        ("a=choice()", "choice(): no options"),
        ("a=range(a)", "range(): 'a' is no number"),
        ("a=choice(a,b", "the value ends too early, expected ')'"),
        ("a=sort(list=[1],2)", "sort(): a positional argument follows a named one"),
        ("a=" + "[" * 200, "nested more than 100 deep"),
        ("a= ,b", "unexpected ','"),
    ],
)
def test_a_malformed_override_keeps_its_text(word: str, error: str) -> None:
    found = parse(word)
    assert found.error is not None
    assert found.error.startswith(error)
    assert found.value == found.raw == (word.partition("=")[2] if "=" in word else word)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.from_regex(r"k[a-z0-9_-]{0,5}", fullmatch=True), inner, max_size=3)
    ),
    max_leaves=8,
)


def written(value: object) -> str:
    """Write a value in Hydra's grammar, strings always quoted."""
    if isinstance(value, str):
        return "'" + escaped(value) + "'"
    if isinstance(value, list):
        return "[" + ",".join(written(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return json.dumps(value)


def escaped(text: str) -> str:
    """Double the backslashes in front of a quote or the end, and escape the quotes."""
    result, slashes = "", 0
    for char in text:
        if char == "'":
            result += "\\" * slashes + "\\'"
        else:
            result += char
        slashes = slashes + 1 if char == "\\" else 0
    return result + "\\" * slashes


def same(left: object, right: object) -> bool:
    """Compare with types, as True == 1 and 1 == 1.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(map(same, left.values(), right.values()))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


@given(VALUES)
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read(value: object) -> None:
    found = parse(f"key={written(value)}")
    assert found.error is None
    assert same(found.value, value)


@given(st.text("ab=,[]{}()'\"\\ :.-+~@/$1e0null", max_size=20) | st.text(max_size=20))
def test_any_word_is_read_or_refused(word: str) -> None:
    found = parse(word)
    assert (found.error is None) or found.value == found.raw


@given(st.from_regex(r"[A-Za-z_][A-Za-z_-]{0,8}", fullmatch=True))
def test_a_plain_word_stays_a_word(word: str) -> None:
    special = word.lower() in {"true", "false", "null", "nan", "inf"}
    assert special or parse(f"a={word}").value == word
