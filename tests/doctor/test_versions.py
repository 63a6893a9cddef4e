"""What is installed against the versions that are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from doctor.site import install
from example_sanity.doctor import environment
from example_sanity.doctor.asked import Asked, Place, parse
from example_sanity.doctor.environment import Environment
from example_sanity.doctor.versions import Row, meets, missing_of_extras, rows, verdict


def asked(text: str, kind: str = "requirements", path: str = "requirements.txt", **more: bool | str) -> Asked:
    found = parse(text)
    assert found is not None
    return found.at(Place(path, 1, text), kind, path, **more)


def here(folder: Path, **installed: str) -> Environment:
    folder.mkdir(exist_ok=True)
    install(folder, "something", "1.0")
    for name, version in installed.items():
        install(folder, name, version)
    return environment.at(folder)


def only(found: list[Row]) -> Row:
    (row,) = found
    return row


def status(tmp_path: Path, installed: str | None, *items: Asked) -> str:
    environment_here = here(tmp_path, **({"demo": installed} if installed else {}))
    return only(rows(items, environment_here)).status.value


@pytest.mark.parametrize(
    ("version", "window", "expected"),
    [
        ("2.6.0", ">=2.6", True),
        ("2.6.0+cu124", "==2.6.0", True),
        ("2.7.0.dev1", ">=2.6", True),
        ("1.0", ">=2.6", False),
        ("1.0+local", ">=2.6", False),
        ("0.6.3.dev5", ">=0.8", False),
        ("0.8.5.dev123+g12ab", ">=0.8.5", None),
        ("0.1.dev1+g12ab", ">=0.8", None),
        ("0.0.0", ">=0.8", None),
        ("2.0-custom-build", ">=1", None),
        ("unknown", "", None),
    ],
)
def test_meets(version: str, window: str, expected: bool | None) -> None:
    assert meets(version, SpecifierSet(window)) is expected


@pytest.mark.parametrize(
    ("installed", "texts", "expected"),
    [
        ("1.5", ["demo"], "ok"),
        ("1.5", ["demo>=1", "demo<2"], "ok"),
        ("1.5", ["demo>=1", "demo>=2"], "outside"),
        ("1.5", ["demo @ git+https://x.invalid/demo@main"], "unknown"),
        ("0.0.0", ["demo>=2"], "unknown"),
        (None, ["demo>=2"], "missing"),
        (None, ["demo @ git+https://x.invalid/demo@main"], "missing"),
    ],
)
def test_the_status_of_a_distribution(
    tmp_path: Path, installed: str | None, texts: list[str], expected: str
) -> None:
    assert status(tmp_path, installed, *map(asked, texts)) == expected


def test_what_need_not_be_there_is_absent(tmp_path: Path) -> None:
    assert status(tmp_path, None, asked("demo==1", "constraints", present=False)) == "absent"


def test_a_guessed_name_that_is_not_there_is_said(tmp_path: Path) -> None:
    guessed = Asked(
        "demo", SpecifierSet(), Place("run.sh", 2, ""), "header", "run.sh", reference="git+x", guessed=True
    )

    assert status(tmp_path, None, guessed) == "unknown"


def test_an_image_counts_only_where_nothing_else_names_a_version(tmp_path: Path) -> None:
    pinned = asked("demo==1.4", "image", "Dockerfile", present=False)

    assert status(tmp_path / "a", "1.5", pinned) == "outside"
    assert status(tmp_path / "b", "1.5", pinned, asked("demo>=1")) == "ok"
    assert status(tmp_path / "c", "1.5", asked("demo"), pinned) == "outside"


def test_one_of_several_set_ups_in_a_header_is_enough(tmp_path: Path) -> None:
    first, second = asked("demo==1.4", "header", "run.sh"), asked("demo==1.5", "header", "run.sh")

    assert status(tmp_path / "a", "1.5", first, second) == "ok"
    assert status(tmp_path / "b", "1.6", first, second) == "outside"


def test_markers_platforms_and_what_is_not_held_to(tmp_path: Path) -> None:
    items = [
        asked("demo; python_version < '3'"),
        asked("demo; extra == 'x'"),
        asked("demo", platform="npu"),
        asked("demo", held=False),
    ]

    assert rows(items, here(tmp_path)) == []
    assert only(rows([asked("demo", platform="gpu")], here(tmp_path / "gpu"))).name == "demo"


def test_a_requirement_for_gpus_holds_on_rocm(tmp_path: Path) -> None:
    assert rows([asked("demo", platform="gpu")], here(tmp_path, torch="2.6.0+rocm6.2")) != []


def test_messages_name_the_numbers_and_the_way_out(tmp_path: Path) -> None:
    items = [asked("torch>=2.6,<2.7"), asked("torch!=2.6.1", path="b.txt"), asked("ray[default]>=2")]
    found = verdict(rows(items, here(tmp_path, torch="2.5.1")))

    assert [(item.kind.value, item.message, item.fix) for item in found.mismatches] == [
        ("missing", "ray is not installed, >=2 is asked for", "pip install 'ray[default]>=2'"),
        ("outside", "torch 2.5.1 is installed, outside >=2.6,<2.7", "pip install 'torch>=2.6,<2.7,!=2.6.1'"),
    ]
    assert [str(place) for place in found.mismatches[1].places] == ["requirements.txt:1"]


def test_there_is_no_way_out_of_contradictions(tmp_path: Path) -> None:
    found = verdict(
        rows([asked("torch>=2.6"), asked("torch<2.5", path="b.txt")], here(tmp_path, torch="2.5.1"))
    )

    assert [item.fix for item in found.mismatches] == [None]


def test_what_is_said_of_builds(tmp_path: Path) -> None:
    items = [
        asked("demo @ git+https://x.invalid/d@ab12"),
        asked("verl@<a6ef5009>", "pin", "REQUIRED_VERL.txt"),
    ]
    install(tmp_path, "verl", "0.8.0", direct={"url": "file:///src/verl", "dir_info": {"editable": True}})
    commit = {"url": "https://x.invalid/d", "vcs_info": {"commit_id": "cd34"}}
    install(tmp_path, "demo", "1.0", direct=commit)
    found = verdict(rows(items, environment.at(tmp_path)))

    assert found.mismatches == ()
    assert [item.message for item in found.notes] == [
        "demo: git+https://x.invalid/d@ab12 is asked for, 1.0 is installed, built from https://x.invalid/d@cd34",
        "verl: a6ef5009 is asked for, 0.8.0 is installed, from the checkout /src/verl",
    ]


REQUIRES = [
    "base",
    "needed-anyway; python_version > '3'",
    "aiohttp>=3; extra == 'default'",
    "grpcio; extra == 'default'",
    "old; extra == 'default' and python_version < '3'",
]


@pytest.mark.parametrize(
    ("installed", "message"),
    [
        ({"aiohttp": "3.9", "grpcio": "1.0"}, None),
        ({"aiohttp": "3.9"}, "ray[default] is asked for, and of that extra is not installed: grpcio"),
        (
            {"aiohttp": "2.0", "grpcio": "1.0"},
            "ray[default] is asked for, and of that extra is not installed: aiohttp>=3",
        ),
    ],
)
def test_extras_need_what_they_bring(tmp_path: Path, installed: dict[str, str], message: str | None) -> None:
    install(tmp_path, "ray", "2.44", requires=REQUIRES, extras=["default"])
    found = here(tmp_path, **installed)
    row = only(rows([asked("ray[default]")], found))

    assert [item.message for item in missing_of_extras(row, found).mismatches] == (
        [message] if message else []
    )


def test_an_extra_that_does_not_exist_is_said(tmp_path: Path) -> None:
    found = here(tmp_path, ray="2.44")
    row = only(rows([asked("ray[defualt]")], found))

    assert [item.message for item in missing_of_extras(row, found).notes] == ["ray 2.44 has no extra defualt"]


def test_extras_of_what_is_not_there_or_too_old_are_not_looked_at(tmp_path: Path) -> None:
    found = here(tmp_path, ray="1.0")

    assert missing_of_extras(only(rows([asked("ray[default]>=2")], found)), found).notes == ()
    assert missing_of_extras(only(rows([asked("gone[all]")], found)), found).notes == ()
