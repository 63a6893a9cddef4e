"""What an entry is told, flattened."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from example_sanity.launch.entry import entries
from example_sanity.launch.hydra_functions import Sweep
from example_sanity.launch.settings import Setting, Settings, settings
from launch_commands import command, entry

PPO = "python -m verl.trainer.main_ppo "


def told(line: str) -> Settings:
    return settings(entry(line))


def brief(line: str) -> list[tuple[str, object, str]]:
    return [(item.key, item.value, item.operation) for item in told(line)]


def test_nothing() -> None:
    assert brief("python train.py") == []
    assert brief("python train.py config.yaml out") == []
    assert brief("python train.py --") == []


@pytest.mark.parametrize(
    ("word", "key", "value", "operation"),
    [
        ("a.b=1", "a.b", 1, "set"),
        ("a.b=x", "a.b", "x", "set"),
        ("+a.b=[full]", "a.b", ["full"], "add"),
        ("++a.b=null", "a.b", None, "force"),
        ("~a.b", "a.b", None, "delete"),
        ("actor@x.y=mlite_actor", "actor@x.y", "mlite_actor", "group"),
        ("+actor@x.y=mlite_actor", "actor@x.y", "mlite_actor", "add"),
        ("hydra/launcher=joblib", "hydra/launcher", "joblib", "group"),
        ("engine=mlite", "engine", "mlite", "group"),
        ("seed=1", "seed", 1, "set"),
        ("debug=true", "debug", True, "set"),
        ("path=${x}", "path", "${x}", "set"),
        ("name='a b'", "name", "a b", "set"),
        ("n=no", "n", "no", "group"),
        ("lr=1,2", "lr", Sweep("choice", (1, 2)), "set"),
    ],
)
def test_overrides(word: str, key: str, value: object, operation: str) -> None:
    (first, second) = told(f'{PPO} x.y=0 "{word}"')
    assert first.key == "x.y"
    assert (second.key, second.value, second.operation, second.style) == (key, value, operation, "hydra")
    assert second.raw == (word.partition("=")[2])
    assert second.error is None


def test_a_malformed_override_is_kept_with_its_reason() -> None:
    (_, broken, bare) = told(f"{PPO} a=1 b=[1 'c d'")
    assert (broken.key, broken.value, broken.raw) == ("b", "[1", "[1")
    assert broken.error == "the value ends too early, expected ']'"
    assert (bare.key, bare.value, bare.raw, bare.error) == ("c d", "c d", "c d", "there is no '=' in it")


def test_the_last_one_wins() -> None:
    found = told(f"{PPO} a.b=1 a.b=2")
    wins = found.get("a.b")
    assert wins is not None
    assert wins.value == 2
    assert found.get("c") is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--config-name ppo a.b=1", [("config-name", "ppo", "flag"), ("a.b", 1, "set")]),
        (
            "--config-path=config -cn x a.b=1",
            [("config-path", "config", "flag"), ("cn", "x", "flag"), ("a.b", 1, "set")],
        ),
        ("-m a.b=1,2", [("m", True, "switch"), ("a.b", Sweep("choice", (1, 2)), "set")]),
        ("a.b=1 --cfg job", [("a.b", 1, "set"), ("cfg", "job", "flag")]),
        ("a.b=1 --config-name", [("a.b", 1, "set"), ("config-name", True, "switch")]),
    ],
)
def test_hydra_flags_take_one_value(line: str, expected: list[tuple[str, object, str]]) -> None:
    assert brief(PPO + line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--a-b 1", [("a-b", 1, "flag")]),
        ("--a_b=1", [("a_b", 1, "flag")]),
        ("--switch", [("switch", True, "switch")]),
        ("-x -y 2", [("x", True, "switch"), ("y", 2, "flag")]),
        ("--a 1 2 3 --b", [("a", [1, 2, 3], "flag"), ("b", True, "switch")]),
        ("--a -1 --b -1.5e-3 --c -.5", [("a", -1, "flag"), ("b", -1.5e-3, "flag"), ("c", -0.5, "flag")]),
        (
            "--lr 1e-5 --v 1.2.3 --h 0x10",
            [("lr", 1e-5, "flag"), ("v", "1.2.3", "flag"), ("h", "0x10", "flag")],
        ),
        ("--a True --b None --c no", [("a", "True", "flag"), ("b", "None", "flag"), ("c", "no", "flag")]),
        ("--a= --b ''", [("a", "", "flag"), ("b", "", "flag")]),
        ("--d '0.5 a 0.5 b'", [("d", "0.5 a 0.5 b", "flag")]),
        ("--a x=1", [("a", "x=1", "flag")]),
        ("pos --a 1 -- --b", [("a", 1, "flag")]),
        ("--config x.yaml a.b=1 c=2", [("config", "x.yaml", "flag"), ("a.b", 1, "set"), ("c", 2, "set")]),
        ("--set a.b=1 --x 2", [("set", "a.b=1", "flag"), ("x", 2, "flag")]),
    ],
)
def test_flags(line: str, expected: list[tuple[str, object, str]]) -> None:
    assert brief("torchrun train.py " + line) == expected


def test_a_flag_of_several_values_keeps_its_text() -> None:
    (found,) = told("python train.py --layers 1 x 3")
    assert (found.raw, found.style, found.word) == ("1 x 3", "flag", 2)


def test_words_and_origins() -> None:
    first, second = told("torchrun --nnodes 2 train.py --a 1 --b")
    assert (first.word, second.word) == (4, 6)
    assert (first.origin.span.line, second.origin.span.line) == (5, 7)


def test_without_origins_the_call_site_stands_for_them() -> None:
    bare = command("python train.py --a 1")
    (found,) = entries([replace(bare, origins=())])
    assert settings(found).items[0].origin == bare.site


def test_what_a_placeholder_touched_is_unstable() -> None:
    found = settings(entry("python train.py --a 1 2 --b 3 --c", unstable=(4, 5)))
    assert [(item.key, item.stable) for item in found] == [("a", False), ("b", False), ("c", True)]
    assert isinstance(found.items[0], Setting)


@given(st.lists(st.text("a-=.1 +~[x@", max_size=6), max_size=6))
def test_any_arguments_are_read(words: list[str]) -> None:
    plain = command("python train.py")
    argv = (*plain.argv, *words)
    (again,) = entries([replace(plain, argv=argv, origins=())])
    seen = list(settings(again))
    assert [item.word for item in seen] == sorted(item.word for item in seen)
    assert all(argv[item.word] for item in seen if item.style == "flag")
