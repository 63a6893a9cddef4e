"""OVR001-018 on a small program: what Hydra and the program accept, and what not, with the message that helps."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from example_sanity.core.finding import Finding
from helpers import Write, brief, cli, report
from overrides.program import FILES, SCRIPT, launcher


def findings(write: Write, *words: str, module: str = "app.train") -> tuple[Finding, ...]:
    return report(write(launcher(*words, module=module)), "overrides").findings


def text(write: Write, *words: str, module: str = "app.train") -> list[str]:
    return [f"{item.span.line} {item.code} {item.message}" for item in findings(write, *words, module=module)]


@pytest.mark.parametrize(
    "words",
    [
        ("trainer.nnodes=2", "trainer.save_freq=after_each_epoch", "data.train_files=[a.parquet,b.parquet]"),
        ("trainer.logger=console", "trainer.flag=False", "trainer.project_name=x", "trainer.nnodes=2.0"),
        ("+actor.name=x", "+trainer.project_name=x", "++trainer.nnodes=2", "+trainer.logger=[wandb]"),
        ("engine=mega", "actor.mega.tp=4", "actor.mega.pp=2"),
        ("actor=mega_actor", "actor.mega.tp=4"),
        ("actor.lr=1", "actor.betas='[0.9,0.95]'", "actor.files=[a,b]", "actor.loss.mode=x"),
        ("actor.length='${data.max_length}'", "actor.files=one", "actor.old=null", "actor.steps=${STEPS:?}"),
        ("+extras.deep.key=1", "extras.deep.key=1", "~trainer.flag", "+trainer.flag=1"),
        ("+actor.loss.clip=0.1", "+actor.tau=0.5", "+actor.extra.anything=1", "+trainer.mine=1"),
        ("hydra.run.dir=out", "hydra/job_logging=none", "hydra.job.chdir=true"),
        ("--config-name=train", "trainer.nnodes=2"),
        ("--multirun", "trainer.nnodes=1,2"),
        ("hydra.searchpath=[pkg://plug.config]", "actor=plug_actor", "actor.plugged=false"),
        ("trainer.logger.0=wandb", "actor.betas.1=0.9"),
        ('"$@"',),
    ],
)
def test_what_hydra_and_the_program_accept_is_silent(write: Write, words: tuple[str, ...]) -> None:
    assert text(write, *words) == []


def test_programs_without_hydra_are_none_of_our_business(write: Write) -> None:
    assert text(write, "trainer.nonsense=2", module="app.tool") == []
    files = {**FILES, SCRIPT: "python3 train.py --lr 1 a.b=2\npython3 -m pip install x\n"}
    assert report(write(files), "overrides").findings == ()


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("trainer.nnode=2", "trainer.nnode is no key of train (app/config); did you mean trainer.nnodes?"),
        (
            "actor.max_length=2",
            "actor.max_length is no key of train (app/config); did you mean actor.length?",
        ),
        ("actor.loss.steps=2", "actor.loss.steps is no key of train (app/config); did you mean actor.steps?"),
        ("~trainer.nothing", "~trainer.nothing: there is nothing to delete at trainer.nothing"),
        ("trainer.flag.deep=1", "trainer.flag.deep is no key of train (app/config)"),
    ],
)
def test_an_unknown_key_names_the_nearest(write: Write, word: str, expected: str) -> None:
    assert text(write, "trainer.nnodes=1", word) == [f"3 OVR001 {expected}"]


def test_one_wrong_group_hides_its_followers(write: Write) -> None:
    found = text(write, "actor.engine=mega", "actor.mega.tp=2", "actor.mega.pp=2", "actor.mega.offload=maybe")

    assert found == [
        "2 OVR001 actor.engine is no key; engine is a config group at the top: write engine=mega. "
        "3 overrides below, such as actor.mega.tp, exist only with it",
        "5 OVR004 actor.mega.offload takes true or false, not the text maybe "
        "(default false, app/config/actor/mega_actor.yaml:7)",
    ]


def test_a_missing_group_choice_is_one_finding(write: Write) -> None:
    assert text(write, "actor.mega.tp=2", "actor.mega.pp=2") == [
        "2 OVR001 actor.mega.tp and 1 other override exist only with engine=mega, but engine=dp is composed; "
        "choose engine=mega"
    ]


def test_overrides_below_a_node_that_does_not_exist_are_one_finding(write: Write) -> None:
    assert text(write, "trainr.nnodes=2", "trainr.save_freq=3") == [
        "2 OVR001 trainr does not exist in train (app/config), and 2 overrides set keys below it; did you mean trainer?"
    ]


def test_a_dict_that_is_to_be_filled_and_a_field_of_the_class_want_a_plus(write: Write) -> None:
    assert text(write, "extras.seed=1", "actor.tau=0.5") == [
        "2 OVR002 extras.seed is not in the configuration (extras is empty): Hydra wants +extras.seed=1",
        "3 OVR002 actor.tau is not in the configuration (its class has such a field, but the configuration does not "
        "list it): Hydra wants +actor.tau=0.5",
    ]


def test_a_plus_in_front_of_a_key_that_exists(write: Write) -> None:
    assert text(write, "+trainer.nnodes=2", "+actor.length=3", "+trainer.new=1", "+trainer.new=1") == [
        "2 OVR003 trainer.nnodes exists already (app/config/train.yaml:7), so Hydra refuses +trainer.nnodes: "
        "drop the plus",
        "3 OVR003 actor.length exists already (app/config/actor/actor.yaml:10), so Hydra refuses +actor.length: "
        "drop the plus",
        "5 OVR003 trainer.new was added before, so Hydra refuses a second +trainer.new: drop the plus",
    ]


def test_fixes_put_the_plus_right_in_quotes_and_arrays(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    script = 'A=(\n    "+trainer.nnodes=2"\n    extras.seed=1\n)\npython3 -m app.train "${A[@]}"\n'
    root = write({**FILES, SCRIPT: script})

    code, _, _ = cli(capsys, "overrides", "--root", str(root), "--fix")

    assert code == 0
    assert (root / SCRIPT).read_text() == script.replace('"+tr', '"tr').replace(" extras.s", " +extras.s")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (
            "actor.lr=fast",
            "actor.lr takes a number, not the text fast (default 1e-06, app/config/actor/actor.yaml:2)",
        ),
        (
            "actor.steps=[1]",
            "actor.steps takes a whole number, not the list [1] (default 1, app/config/actor/actor.yaml:3)",
        ),
        (
            "actor.betas=0.9",
            "actor.betas takes a list, not the number 0.9 (default [0.9, 0.99], app/config/actor/actor.yaml:7)",
        ),
        ("trainer=3", "trainer takes a group of settings, not the number 3 (app/config/train.yaml:6)"),
    ],
)
def test_a_value_of_another_type(write: Write, word: str, expected: str) -> None:
    assert text(write, word) == [f"2 OVR004 {expected}"]


def test_choices_of_a_literal_and_of_an_assertion(write: Write) -> None:
    assert text(write, "actor.kind=c", "actor.mode=asynk") == [
        "2 OVR005 actor.kind must be one of a, b, not c",
        "3 OVR005 actor.mode must be one of async, sync, not asynk (did you mean 'async'?)",
    ]


def test_a_missing_module_and_a_missing_configuration(write: Write) -> None:
    assert text(write, "a.b=1", module="app.trian") == [
        "1 OVR006 there is no module app.trian in app (did you mean 'app.train'?)"
    ]
    assert text(write, "--config-name=trian", "a.b=1") == [
        "2 OVR007 there is no configuration trian.yaml in app/config (did you mean 'train'?)"
    ]
    assert text(write, "--config-path=konfig", "a.b=1") == [
        "2 OVR007 the configuration folder app/konfig does not exist"
    ]


@pytest.mark.parametrize("folder", ["$(pwd)/app/config", "$PWD/app/config", "/elsewhere/conf"])
def test_a_configuration_folder_below_the_current_one(write: Write, folder: str) -> None:
    # The project lies at the root while it is evaluated; what lies outside of it is not known.
    assert text(write, f"--config-path={folder}", "trainer.nnodes=2") == []


def test_a_configuration_folder_below_the_current_one_is_looked_into(write: Write) -> None:
    assert text(write, "--config-path=$(pwd)/app/konfig", "a.b=1") == [
        "2 OVR007 the configuration folder app/konfig does not exist"
    ]


def test_a_configuration_that_the_user_names_is_not_known(write: Write) -> None:
    files = {**FILES, SCRIPT: "set -u\npython3 -m app.train --config-name $NAME trainer.nnode=2\n"}
    assert report(write(files), "overrides").findings == ()


def test_what_a_package_that_is_nowhere_may_hold_is_not_missing(write: Write) -> None:
    config = "defaults:\n  - base\n  - _self_\nhydra:\n  searchpath:\n    - pkg://far.conf\nsize: 1\n"
    files = {
        **FILES,
        "app/config/far.yaml": config,
        SCRIPT: "python3 -m app.train --config-name=far size=2\n",
    }
    (found,) = report(write(files), "overrides").findings
    assert (found.code, found.message) == (
        "OVR017",
        "far (app/config) has package far.conf in its search path, which is neither in the project, in source-roots "
        "nor installed, and does not compose without it: the overrides are not checked",
    )


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("trainer.train_files=x", "trainer.train_files is no key of train (app/config)"),
        ("data.max_tokens=x", "data.max_tokens is no key of train (app/config)"),
    ],
)
def test_what_is_another_setting_is_not_suggested(write: Write, word: str, expected: str) -> None:
    assert text(write, word) == [f"2 OVR001 {expected}"]


def test_an_empty_value_is_said_to_be_one(write: Write) -> None:
    assert text(write, "trainer.flag=", "trainer.nnodes=1", "trainer.nnodes=") == [
        "2 OVR004 trainer.flag takes true or false, not an empty value (default true, app/config/train.yaml:11)",
        "4 OVR010 trainer.nnodes is set twice: 1 in line 3 does not count, an empty value does",
    ]


def test_deprecated_and_contradicting_overrides(write: Write) -> None:
    assert text(write, "actor.old=3", "trainer.nnodes=1", "trainer.nnodes=2") == [
        "2 OVR009 actor.old is deprecated, as the class that takes it says",
        "4 OVR010 trainer.nnodes is set twice: 1 in line 3 does not count, 2 does",
    ]


def test_what_a_later_array_changes_is_meant(write: Write) -> None:
    script = 'A=(trainer.nnodes=1)\nA+=(trainer.nnodes=2)\npython3 -m app.train "${A[@]}" trainer.nnodes=3\n'
    assert report(write({**FILES, SCRIPT: script}), "overrides").findings == ()


def test_placeholders_are_errors_where_hydra_cannot_read_them(write: Write) -> None:
    found = findings(write, "data.train_files=/path/to/train", "'trainer.project_name=<name>'")
    assert [(item.code, item.severity.value, item.message) for item in found] == [
        ("OVR011", "warning", "data.train_files still holds the placeholder /path/to/"),
        (
            "OVR011",
            "error",
            "trainer.project_name still holds the placeholder <name>, which Hydra cannot read",
        ),
    ]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("engine=mego", "config group engine has no option mego; did you mean mega? There are: dp, mega"),
        ("actor@actor=dp_actor", "the defaults list has no entry actor@actor: write actor=dp_actor"),
        ("nothing@actor=x", "nothing is no config group of train (app/config)"),
        ("engine=3", "engine is a config group: it takes the name of an option, not 3"),
    ],
)
def test_group_choices(write: Write, word: str, expected: str) -> None:
    assert text(write, word) == [f"2 OVR012 {expected}"]


def test_fields_that_the_class_does_not_have(write: Write) -> None:
    assert text(write, "+actor.loss.tau=1", "+actor.loss.modes=x") == [
        "2 OVR013 actor.loss becomes an object whose class has no field tau or modes: its construction fails; "
        "did you mean actor.loss.mode?"
    ]


def test_quotes_inside_and_lists_that_the_shell_splits(write: Write) -> None:
    assert text(write, "\"actor.betas='[0.9,0.95]'\"", "trainer.logger=[console, wandb]") == [
        "2 OVR014 actor.betas='[0.9,0.95]' reaches Hydra as text, not as a list: the quotes are part of the value; "
        "the default is [0.9, 0.99]",
        "3 OVR015 the shell splits this list into 2 words: quote the override, 'trainer.logger=[console, wandb]'",
    ]


def test_search_paths(write: Write) -> None:
    assert text(write, "hydra.searchpath=[pkg://plug.konfig]", "trainer.x=1") == [
        "2 OVR016 the search path pkg://plug.konfig does not exist: Hydra goes on without it"
    ]
    assert text(write, "hydra.searchpath=[file://nowhere]", "trainer.x=1") == [
        "2 OVR016 the search path file://nowhere does not exist: Hydra goes on without it"
    ]


def test_what_is_found_nowhere_is_one_info_and_its_keys_are_silent(write: Write) -> None:
    for words, module in (
        (("trainer.x=1", "b.c=2"), "nowhere.train"),
        (("hydra.searchpath=[pkg://nowhere.config]", "trainer.x=1", "actor=any"), "app.train"),
    ):
        (finding,) = findings(write, *words, module=module)
        assert (finding.code, finding.severity.value) == ("OVR017", "info")
        assert "package nowhere is neither in the project" in finding.message


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (
            "trainer.project_name=a=b",
            "Hydra cannot read trainer.project_name=a=b: unexpected '=' (column 23)",
        ),
        (
            "trainer.nnodes=1,2",
            "trainer.nnodes=1,2 asks for several runs, which Hydra does only with --multirun; for a list write trainer.nnodes=[1,2]",
        ),
    ],
)
def test_words_that_hydra_cannot_read(write: Write, word: str, expected: str) -> None:
    assert text(write, word) == [f"2 OVR018 {expected}"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("trainer.nnodes", "trainer.nnodes: there is no '=' in it; write KEY=VALUE, or leave it out"),
        ('""', "an empty word: there is no '=' in it; write KEY=VALUE, or leave it out"),
        ("' '", "a word of white space; end the line before it with the backslash, no space behind it"),
    ],
)
def test_words_without_an_equals_sign(write: Write, word: str, expected: str) -> None:
    assert text(write, "trainer.nnodes=1", word) == [f"3 OVR018 Hydra cannot read {expected}"]


def test_nothing_is_said_of_keys_when_a_placeholder_chooses_the_configuration(write: Write) -> None:
    assert text(write, "engine=${ENGINE:?}", "actor.mega.tp=2") == []


def test_without_hydra_one_info_says_what_to_install(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "hydra" else found(name))

    assert text(write, "trainer.nnode=2", "trainer.nodes=1") == [
        "1 OVR017 Hydra is not installed beside example-sanity, so overrides are not checked; "
        "pip install 'example-sanity[hydra]'"
    ]


def test_source_roots_are_looked_in(write: Write, tmp_path: Path) -> None:
    moved = {f"elsewhere/{path}": content for path, content in FILES.items()}
    table = "[tool.example-sanity]\nsource-roots = ['elsewhere']\n"
    root = write({**moved, SCRIPT: "python3 -m app.train trainer.nnode=2\n", "pyproject.toml": table})

    assert brief(report(root, "overrides").findings) == [f"{SCRIPT}:1 OVR001"]


def test_an_edit_of_the_configuration_is_seen_through_the_cache(write: Write) -> None:
    root = write(launcher("trainer.nnodes=2"))
    subprocess.run(["git", "init", "-q", root], check=True)
    assert report(root, "overrides").findings == ()
    assert report(root, "overrides").findings == ()

    config = root / "app/config/train.yaml"
    config.write_text(config.read_text().replace("nnodes", "nodes"))

    assert [item.code for item in report(root, "overrides").findings] == ["OVR001"]
