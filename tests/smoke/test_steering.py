"""Ways to set a value: what stands around a variable, values in place, keys that a program does not have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core.rule import Subject
from example_sanity.launch.syntax import Script, parse
from example_sanity.session import open_run
from example_sanity.smoke.spelling import Spelling
from example_sanity.smoke.steering import Refusal, Steering, Target
from example_sanity.smoke.trial import Bench, Inputs
from helpers import Write

_TRAIN = "python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm "


def _steered(text: str, *targets: Target) -> Steering:
    script: Script = parse("run.sh", text.encode())
    bench = Bench(script, None, {})
    steering = Steering(bench, lambda key, value: (f"{key}={value}",), Inputs(positional=bench.positional))
    steering.steer(targets)
    return steering


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        ("N=${N:-8}\n" + _TRAIN + "a.b=$N", {"N": "1"}),
        ('N="${NODES:-8}"\n' + _TRAIN + "a.b=$N", {"NODES": "1"}),
        (': "${N:=8}"\n' + _TRAIN + "a.b=$N", {"N": "1"}),
        ("N=${N:?how many}\n" + _TRAIN + "a.b=$N", {"N": "1"}),
        (_TRAIN + "a.b=${N:-8}", {"N": "1"}),
        ("set -u\nN=${N:-$ROOT/8}\n" + _TRAIN + "a.b=$N", {"N": "1"}),
        ("A=${A:-8}\nB=$A\n" + _TRAIN + "a.b=$B", {"A": "1"}),
    ],
)
def test_a_value_is_set_through_its_variable(text: str, environment: dict[str, str]) -> None:
    assert _steered(text, Target("a.b", "1", "it is small")).inputs.environment == environment


@given(
    before=st.sampled_from(("", "[", "x-", "/data/")),
    after=st.sampled_from(("", "]", ".parquet")),
    value=st.from_regex(r"[a-z]{1,8}", fullmatch=True),
)
def test_what_stands_around_a_variable_is_kept(before: str, after: str, value: str) -> None:
    wanted = f"{before}{value}{after}"
    steering = _steered(
        f"N=${{N:-old9}}\n{_TRAIN}a.b={before}$N{after}", Target("a.b", wanted, "it is small")
    )

    assert steering.inputs.environment == {"N": value}
    assert steering.trial.text("a.b") == wanted


def test_a_variable_that_does_not_reach_far_enough_is_given_up() -> None:
    text = "N=${N:-8}\nif [ $N -lt 4 ]; then N=4; fi\n" + _TRAIN + 'a.b=$N "$@"'
    steering = _steered(text, Target("a.b", "1", "it is small"))

    assert steering.inputs.environment == {}
    assert steering.inputs.arguments == ("a.b=1",)
    assert [(change.name, change.was) for change in steering.changes()] == [("a.b", "8")]


def test_one_variable_may_serve_two_settings() -> None:
    text = "N=${N:-8}\n" + _TRAIN + "a.b=$N c.d=$N"
    steering = _steered(text, Target("a.b", "1", "one"), Target("c.d", "1", "two"))

    assert [(change.name, change.why) for change in steering.changes()] == [("N", "one")]


def test_what_follows_from_an_earlier_stage_is_not_set() -> None:
    text = "N=${N:-8}\nM=${M:-$((N * 2))}\n" + _TRAIN + "a.b=$N c.d=$M"
    steering = _steered(text, Target("a.b", "1", "one"), Target("c.d", "2", "two", stage=1))

    assert steering.inputs.environment == {"N": "1"}


def test_what_nothing_reaches_is_refused_unless_it_may_stay() -> None:
    text = _TRAIN + "a.b=8"

    assert _steered(text, Target("a.b", "1", "it is small", needed=False)).missed[0].key == "a.b"
    with pytest.raises(Refusal, match=r"run.sh:1: a.b is 8 and has to be 1 \(it is small\)"):
        _steered(text, Target("a.b", "1", "it is small"))


def test_a_variable_that_stops_the_script_is_said() -> None:
    text = "N=${N:-8}\nif [ $N -lt 4 ]; then echo too few >&2; exit 1; fi\n" + _TRAIN + "a.b=$N"

    with pytest.raises(Refusal, match=r"run.sh starts no training with N=1: too few"):
        _steered(text, Target("a.b", "1", "it is small"))


def test_a_key_that_the_program_does_not_have_cannot_be_set(write: Write) -> None:
    name = "run_qwen3_8b_fsdp.sh"
    root = write({name: _TRAIN + '"$@"\n', "example-sanity.toml": ""})
    run = open_run([root / name], cache=False)
    (script,) = run.load(Subject.SCRIPT, name)
    assert isinstance(script, Script)
    spelling = Spelling(run, script, Bench(script, root, {}).run(Inputs()))

    assert spelling.words("trainer.save_freq", "-1") == ("trainer.save_freq=-1",)
    assert spelling.words("trainer.logger", "[console]") == ("trainer.logger=[console]",)
    assert spelling.words("data.train_files", "/a b/c.parquet") == ("data.train_files='/a b/c.parquet'",)
    assert spelling.words("trainer.save_frequency", "-1") == ()
    assert spelling.words("actor_rollout_ref.rollout.name", "sglang") == (
        "actor_rollout_ref.rollout.name=sglang",
    )
