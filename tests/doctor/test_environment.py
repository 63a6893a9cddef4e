"""Environments, read from their files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from doctor.site import install, site, virtual_environment
from example_sanity.core.errors import UsageError
from example_sanity.doctor import environment


def test_a_virtual_environment_by_its_folder_its_python_and_its_packages(tmp_path: Path) -> None:
    folder = virtual_environment(tmp_path / "venv", "3.11.9")
    packages = site(folder, "3.11.9")
    install(packages, "Demo_Project", "1.0")
    (folder / "bin").mkdir()
    (folder / "bin/python").write_text("not to be run")

    for path in (folder, folder / "bin/python", packages):
        found = environment.at(path)
        assert (found.version, found.prefix, found.folders) == ("3.11.9", folder, (packages,))
        assert [(item.name, item.version) for item in found.all] == [("demo-project", "1.0")]
        assert found.markers["python_version"] == "3.11"
        assert found.markers["python_full_version"] == "3.11.9"


def test_an_interpreter_outside_of_environments(tmp_path: Path) -> None:
    for minor in ("3.9", "3.10"):
        install(tmp_path / f"lib/python{minor}/site-packages", "demo", minor)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3.9").write_text("")
    (tmp_path / "bin/python").symlink_to("python3.9")
    (tmp_path / "elsewhere").symlink_to(tmp_path / "bin/python3.9")

    assert environment.at(tmp_path / "bin/python").distributions["demo"].version == "3.9"
    assert environment.at(tmp_path / "elsewhere").distributions["demo"].version == "3.9"
    assert environment.at(tmp_path).distributions["demo"].version == "3.10"


def test_system_packages_come_after_those_of_the_environment(tmp_path: Path) -> None:
    base, folder = tmp_path / "base", virtual_environment(tmp_path / "venv", "3.12.1")
    install(base / "lib/python3.12/site-packages", "demo", "1.0")
    install(base / "lib/python3.12/site-packages", "other", "1.0")
    install(site(folder, "3.12.1"), "demo", "2.0")
    settings = f"home = {base}/bin\ninclude-system-site-packages = true\nversion_info = 3.12.1.final.0\n"
    (folder / "pyvenv.cfg").write_text(settings)
    found = environment.at(folder)

    assert found.version == "3.12.1"
    assert {name: item.version for name, item in found.distributions.items()} == {
        "demo": "2.0",
        "other": "1.0",
    }


def test_a_folder_without_packages_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no site-packages belong to it"):
        environment.at(tmp_path)


def test_a_plain_folder_of_distributions(tmp_path: Path) -> None:
    install(tmp_path / "target", "demo", "1.0")

    assert list(environment.at(tmp_path / "target").distributions) == ["demo"]


def test_the_environment_that_runs() -> None:
    found = environment.running()

    assert "pytest" in found.distributions
    assert found.prefix == Path(sys.prefix)
    assert found.markers["python_version"] == f"{sys.version_info[0]}.{sys.version_info[1]}"


def test_what_a_distribution_says(tmp_path: Path) -> None:
    files = [
        "demo/__init__.py",
        "demo/a.py",
        "single.py",
        "fast.cpython-312.so",
        "shared/part/__init__.py",
        "../bin/demo",
    ]
    install(
        tmp_path,
        "demo",
        "1.0",
        files=[name for name in files if not name.startswith("..")],
        requires=["a; extra == 'x'"],
        extras=["X_y"],
    )
    found = environment.at(tmp_path).distributions["demo"]

    assert found.regular == {"demo", "single", "fast"}
    assert found.extras == {"x-y"}
    assert found.requires == ("a; extra == 'x'",)
    assert (found.checkout, found.built_from) == (None, None)


def test_where_a_distribution_was_built_from(tmp_path: Path) -> None:
    commit = {"url": "https://example.invalid/a.git", "vcs_info": {"vcs": "git", "commit_id": "ab12"}}
    install(tmp_path, "built", "1.0", direct=commit)
    install(tmp_path, "editable", "1.0", direct={"url": "file:///src/a%20b", "dir_info": {"editable": True}})
    install(tmp_path, "broken", "1.0")
    (tmp_path / "broken-1.0.dist-info/direct_url.json").write_text("{")
    found = environment.at(tmp_path).distributions

    assert found["built"].built_from == "https://example.invalid/a.git@ab12"
    assert found["editable"].checkout == Path("/src/a b")
    assert found["broken"].built_from is None


def test_editable_installations_put_folders_and_packages_on_the_path(tmp_path: Path) -> None:
    install(tmp_path, "demo", "1.0")
    (tmp_path / "src").mkdir()
    (tmp_path / "a.pth").write_text(f"# comment\nimport os\n{tmp_path / 'src'}\n{tmp_path / 'gone'}\n")
    finder = "MAPPING: dict[str, str] = {'pkg': '/src/pkg'}\nraise SystemExit\n"
    (tmp_path / "__editable___x_finder.py").write_text(finder)
    (tmp_path / "__editable___y_finder.py").write_text("MAPPING = (")
    found = environment.at(tmp_path)

    assert found.editable_folders == (tmp_path / "src",)
    assert found.editable_packages == {"pkg": Path("/src/pkg")}


@pytest.mark.parametrize(
    ("name", "version", "platform"),
    [
        ("numpy", "2.0", "gpu"),
        ("torch", "2.6.0+cu124", "gpu"),
        ("torch", "2.6.0+rocm6.2", "rocm"),
        ("torch-npu", "2.5", "npu"),
    ],
)
def test_the_platform_of_an_environment(tmp_path: Path, name: str, version: str, platform: str) -> None:
    install(tmp_path, name, version)

    assert environment.at(tmp_path).platform == platform
