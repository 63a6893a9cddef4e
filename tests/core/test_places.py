"""What a project holds besides the contents of its listed files."""

from __future__ import annotations

from pathlib import Path

from example_sanity.core.places import Places, names_in, state, survey
from helpers import Write


def places(root: Path, *files: str) -> Places:
    folders = {"", *(file.rpartition("/")[0] for file in files)}
    return survey(root, files, folders)


def test_what_is_listed_is_not_unlisted(write: Write) -> None:
    root = write({"a.py": "", "b/c.sh": "", "__pycache__/a.pyc": "", ".example-sanity-cache/x": ""})

    assert places(root, "a.py", "b/c.sh") == ((), ())


def test_unlisted_places_links_and_modes(write: Write) -> None:
    root = write({"b/c.sh": "", "b/d": "", "data/x/y": ""})
    (root / "empty").mkdir()
    (root / "b/c.sh").chmod(0o755)
    (root / "link").symlink_to("b/d")

    found = places(root, "b/c.sh", "link")

    assert found.unlisted == ("data", "empty", "b/d")
    assert found.seen == (
        "data folder",
        "empty folder",
        "link -> b/d",
        "b/c.sh executable",
        "b/d file",
    )


def test_the_state_of_a_place_follows_what_is_below(write: Write) -> None:
    root = write({"data/x/y": "1"})
    seen = [list(state(root, "data"))]
    assert len(seen[0]) == 3
    for text in ("22", "333"):
        write({"data/x/y": text})
        seen.append(list(state(root, "data")))
    write({"data/x/z": ""})
    seen.append(list(state(root, "data")))

    assert all(seen.count(item) == 1 for item in seen)


def test_a_large_place_is_looked_at_in_part(write: Write) -> None:
    root = write({f"data/{number:04}": "" for number in range(600)})

    assert len(list(state(root, "data"))) == 500


def test_a_place_that_is_gone_has_no_state(tmp_path: Path) -> None:
    assert list(state(tmp_path, "data")) == []


def test_links_are_not_followed(write: Write) -> None:
    root = write({"data/x": ""})
    (root / "data/all").symlink_to("..")

    assert [line.partition(" ")[0] for line in state(root, "data")] == ["data/", "data/all", "data/x"]


def test_names_in_a_folder(write: Write) -> None:
    root = write({"b": "", "a/c": "", ".git/x": ""})

    assert names_in(str(root)) == ["a", "b"]
    assert names_in(str(root / "b")) is None
    assert names_in(str(root / "none")) is None
