"""MSH001-005 on small launchers: what is legal, what is not, and what nobody can know."""

from __future__ import annotations

import pytest

from example_sanity.core.finding import Finding
from helpers import Write, brief, report
from mesh.launchers import EXACT, KNOBS, LAUNCH, PATH, WITHOUT_CP, launcher


def _findings(write: Write, text: str) -> tuple[Finding, ...]:
    return report(write({PATH: text}), "mesh").findings


def _line(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.split("\n"), 1) if part in line)


def test_a_legal_mesh_with_an_exact_guard_is_silent(write: Write) -> None:
    assert _findings(write, KNOBS + EXACT + LAUNCH) == ()


@pytest.mark.parametrize(
    "line",
    [
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.strategy=fsdp trainer.nnodes=3",
        "python3 -m other.trainer model.tp=3 model.pp=7",
        "python3 -m verl.trainer.main_ppo model_engine=megatron trainer.nnodes=${NODES:?} "
        "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=5",
        "python3 -m verl.trainer.main_ppo model_engine=megatron --config-name=my_own "
        "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=5",
        "python3 -m verl.trainer.main_ppo model_engine=megatron "
        "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=$(nproc --all)",
        "echo python3 -m verl.trainer.main_ppo model_engine=megatron trainer.nnodes=3",
    ],
)
def test_what_is_no_mesh_or_not_known_is_silent(write: Write, line: str) -> None:
    assert _findings(write, f"set -eu\n{line}\n") == ()


def test_an_illegal_dense_mesh_names_the_knob_the_numbers_and_the_change(write: Write) -> None:
    text = KNOBS.replace("PP:-1", "PP:-2").replace("EP:-8", "EP:-4") + LAUNCH

    findings = _findings(write, text)

    assert brief(findings) == [f"{PATH}:{_line(text, 'engine.cp')} MSH001"]
    assert findings[0].message.startswith(
        "8 GPUs cannot hold tp1·cp8·pp2 = 16; with CP=4 it fits, dp=1 (Megatron Lite: "
    )
    assert findings[0].scenarios == ("default",)
    assert [related.label for related in findings[0].related] == ["tp = 1", "pp = 2", "gpn = 8", "nnodes = 1"]


def test_an_illegal_expert_mesh(write: Write) -> None:
    text = KNOBS.replace("EP:-8", "EP:-16") + LAUNCH

    findings = _findings(write, text)

    assert brief(findings) == [f"{PATH}:{_line(text, 'engine.ep')} MSH002"]
    assert "8 GPUs cannot hold etp1·ep16·pp1 = 16; with EP=8 it fits, edp=1" in findings[0].message


def test_etp_left_out_follows_tp_in_megatron_core(write: Write) -> None:
    key = "actor_rollout_ref.actor.megatron"
    text = (
        f"python3 -m verl.trainer.main_ppo model_engine=megatron {key}.tensor_model_parallel_size=4 "
        f"{key}.expert_model_parallel_size=4\n"
    )

    (finding,) = _findings(write, text)

    assert finding.code == "MSH002"
    assert "8 GPUs cannot hold etp4·ep4·pp1 = 16 (etp is unset and follows tp)" in finding.message
    assert f"with {key}.expert_tensor_parallel_size=1 it fits" in finding.message


def test_a_variant_that_breaks_is_reported_in_its_scenario_only(write: Write) -> None:
    variants = 'case "${MODEL_VARIANT:-small}" in\nsmall) CP=2 ;;\nlarge) CP=16 ;;\n*) exit 1 ;;\nesac\n'

    findings = _findings(write, KNOBS + variants + LAUNCH)

    assert [(finding.code, finding.scenarios) for finding in findings] == [
        ("MSH001", ("MODEL_VARIANT=large",))
    ]


def test_torchrun_decides_the_world_of_an_sft_launch(write: Write) -> None:
    run = "torchrun --nnodes=2 --nproc_per_node 4 -m verl.trainer.sft_trainer engine=mlite engine.cp={}\n"

    assert _findings(write, run.format(8)) == ()
    assert "8 GPUs cannot hold tp1·cp16·pp1" in _findings(write, run.format(16))[0].message


def test_a_world_that_was_made_up_says_nothing(write: Write) -> None:
    text = (
        "torchrun --nnodes=1 --nproc_per_node=$1 -m verl.trainer.sft_trainer engine=megatron "
        "engine.tensor_model_parallel_size=4\n"
    )
    assert _findings(write, text) == ()
    (finding,) = _findings(write, text.replace("$1", "2"))  # without experts one mesh is all there is
    assert finding.code == "MSH001"


def test_a_guard_without_cp_is_unsound_too_strict_and_shows_a_wrong_dp(write: Write) -> None:
    text = KNOBS + WITHOUT_CP + LAUNCH

    findings = _findings(write, text)

    guard, dp = _line(text, "if (("), _line(text, "DP=$((")
    assert brief(findings) == [f"{PATH}:{guard} MSH003", f"{PATH}:{guard} MSH004", f"{PATH}:{dp} MSH005"]
    unsound, strict, wrong = (finding.message for finding in findings)
    assert (
        "the guard accepts CP=16, which Megatron Lite rejects: 8 GPUs cannot hold tp1·cp16·pp1 = 16"
        in unsound
    )
    assert "the guard rejects TP=2 CP=1, which Megatron Lite accepts (dp=4, edp=1)" in strict
    assert "check world % (TP * CP * PP) == 0 and world % (ETP * EP * PP) == 0 instead" in strict
    assert "with CP=1 the launcher shows dp=1, but Megatron Lite uses dp=8" in wrong


def test_of_several_guards_the_wrong_one_is_pointed_at(write: Write) -> None:
    guards = "(( NGPU % (TP * EP * PP) == 0 )) || exit 1\n(( NGPU % (ETP * EP * PP) == 0 )) || exit 1\n"
    text = KNOBS + guards + LAUNCH

    findings = _findings(write, text)

    line = _line(text, "TP * EP * PP) == 0")
    assert brief(findings) == [f"{PATH}:{line} MSH003", f"{PATH}:{line} MSH004"]
    assert [(related.span.line, related.label) for related in findings[0].related] == [
        (line + 1, "part of the guard")
    ]


@pytest.mark.parametrize(
    "guard",
    [
        # The same rule in other words.
        EXACT.replace("!= 0 ||", "||").replace("!= 0 ))", "))"),
        "check() { [[ $((NGPU % (TP * CP * PP))) -eq 0 && $((NGPU % (ETP * EP * PP))) -eq 0 ]]; }\n"
        "check || { echo bad >&2; exit 1; }\n",
        "DENSE=$((TP * CP * PP))\nEXPERT=$((ETP * EP * PP))\n"
        "(( NGPU % DENSE == 0 )) || exit 3\n(( NGPU % EXPERT == 0 )) || exit 4\n",
        # A guard of something else is no mesh guard.
        'if [[ -z "${HOME:-}" ]]; then exit 1; fi\n',
        'if [[ -z "${MASTER_ADDR:-}" && $NNODES -gt 1 ]]; then exit 1; fi\n',
        "[[ $TP =~ ^[0-9]+$ && $PP =~ ^[0-9]+$ ]] || exit 1\n",
        "(( TP <= 8 && NGPU >= 4 )) || exit 1\n",
        "",
        # Nobody knows what a program says of a mesh without running it.
        'python3 -c "import sys; sys.exit($NGPU % ($TP * $PP))" || { echo bad; exit 1; }\n',
        "if ! python3 tools/check_mesh.py --world $NGPU --tp $TP --cp $((CP * 1)); then exit 1; fi\n",
        'LEFT=$(python3 -c "print($NGPU % ($TP * $PP))")\nif [[ "${LEFT:-0}" != 0 ]]; then exit 1; fi\n',
        'if [ "$(echo "$NGPU % ($TP * $PP)" | bc)" != "" ]; then exit 1; fi\n',
        # A limit of its own beside an exact guard makes that no stricter.
        EXACT + '(( NNODES < 3 && TP <= 2 )) || { echo "the model does not fit" >&2; exit 1; }\n',
    ],
)
def test_exact_guards_in_other_words_are_silent(write: Write, guard: str) -> None:
    assert _findings(write, KNOBS + guard + LAUNCH) == ()


def test_a_guard_that_looks_at_one_mesh_only_is_unsound(write: Write) -> None:
    guard = "(( NGPU % (TP * CP * PP) == 0 )) || exit 1\n"

    findings = _findings(write, KNOBS + guard + LAUNCH)

    assert [finding.code for finding in findings] == ["MSH003"]
    assert "the guard accepts ETP=2" in findings[0].message


@pytest.mark.parametrize(
    "guard",
    [
        "REST=$(expr $NGPU % $TP || true)\n[ $REST -eq 0 ] || exit 1\n",
        "if [ $((NGPU % TP)) -ne 0 ]; then\n    python3 tell.py\n    exit 1\nfi\n",
    ],
)
def test_a_guard_whose_answer_is_known_is_proved(write: Write, guard: str) -> None:
    assert [finding.code for finding in _findings(write, KNOBS + guard + LAUNCH)] == ["MSH003"]


def test_a_limit_of_its_own_hides_no_guard_that_is_too_strict(write: Write) -> None:
    limit = '(( NNODES < 3 )) || { echo "too many" >&2; exit 1; }\n'

    strict = _findings(write, KNOBS + limit + WITHOUT_CP + LAUNCH)[1]

    assert (strict.code, strict.span.line) == ("MSH004", _line(KNOBS + limit + WITHOUT_CP, "TP * EP * PP"))
    assert "rejects TP=2 CP=1" in strict.message


def test_sizes_that_the_launcher_fixes_stay_fixed(write: Write) -> None:
    knobs = KNOBS.replace("TP=${TP:-1}\n", "TP=1\n").replace("ETP=${ETP:-1}", "ETP=1")

    assert _findings(write, knobs + EXACT + LAUNCH) == ()
    assert [f.code for f in _findings(write, knobs + WITHOUT_CP + LAUNCH)] == ["MSH003", "MSH005"]


def test_a_knob_under_another_name_is_set_by_that_name(write: Write) -> None:
    knobs = KNOBS.replace("CP=${CP:-8}", "CP=${CONTEXT:-8}")

    assert _findings(write, knobs + EXACT + LAUNCH) == ()
    assert "accepts CONTEXT=16" in _findings(write, knobs + WITHOUT_CP + LAUNCH)[0].message


def test_torchrun_takes_its_world_from_knobs(write: Write) -> None:
    run = "torchrun --nnodes=${NNODES} --nproc_per_node 8 -m verl.trainer.sft_trainer engine=mlite engine.cp=${CP}\n"
    wrong = "(( 8 % CP == 0 )) || exit 1\n"
    right = "(( NGPU % CP == 0 )) || exit 1\n"

    assert _findings(write, KNOBS + right + run) == ()
    strict = _findings(write, KNOBS + wrong + run)[-1]
    assert (strict.code, "rejects CP=16 NNODES=2" in strict.message) == ("MSH004", True)


def test_a_world_that_is_partly_left_out_counts_once(write: Write) -> None:
    launch = LAUNCH.replace("trainer.n_gpus_per_node=8 ", "")

    assert _findings(write, KNOBS + EXACT + launch) == ()


def test_a_guard_of_more_than_the_mesh_may_have_other_reasons(write: Write) -> None:
    guard = "TOTAL=${TOTAL:-8}\n(( NNODES * 8 == TOTAL && NGPU % (TP * CP * PP) == 0 )) || exit 1\n"

    assert "MSH004" not in [finding.code for finding in _findings(write, KNOBS + guard + LAUNCH)]


def test_sizes_that_a_scheduler_decides_are_not_known(write: Write) -> None:
    knobs = KNOBS.replace("CP:-8", "CP:-16").replace("${NNODES:-1}", "${SLURM_NNODES:-1}")

    assert _findings(write, knobs + LAUNCH) == ()


def test_a_size_that_is_computed_from_a_knob_leaves_the_guard_unproved(write: Write) -> None:
    knobs = KNOBS.replace("EP=${EP:-8}", "EP=$((CP * 1))")

    assert _findings(write, knobs + WITHOUT_CP + LAUNCH) == ()


def test_a_launcher_in_two_broken_scenarios_is_one_finding(write: Write) -> None:
    switch = 'if [[ "${DEVICE:-gpu}" == npu ]]; then X=1; fi\n'

    (finding,) = _findings(write, KNOBS.replace("CP:-8", "CP:-16") + switch + LAUNCH)

    assert finding.scenarios == ("default", "DEVICE=npu")


def test_ignores_and_selection_work_for_this_family_too(write: Write) -> None:
    table = (
        f"[[tool.example-sanity.per-file-ignore]]\npath = '{PATH}'\nrules = ['MSH004']\nreason = 'known'\n"
    )

    result = report(write({**launcher(WITHOUT_CP), "pyproject.toml": table}), "mesh")

    assert [finding.code for finding in result.findings] == ["MSH003", "MSH005"]
    assert [finding.code for finding in result.suppressed] == ["MSH004"]
