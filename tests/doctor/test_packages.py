"""pyproject.toml, setup.cfg and setup.py, read and never run."""

from __future__ import annotations

from example_sanity.doctor.asked import Asked
from example_sanity.doctor.packages import Package, pyproject, setup_cfg, setup_py


def rows(package: Package) -> list[tuple[int, str, str, str]]:
    return [(item.place.line, item.kind, item.source, _words(item)) for item in package.asked]


def _words(item: Asked) -> str:
    return f"{item.name}{item.window}"


def test_what_cannot_be_read_asks_for_nothing() -> None:
    assert pyproject("pyproject.toml", "[project\n", held=True) == Package()
    assert setup_cfg("setup.cfg", "no section\n", held=True) == Package()
    assert setup_py("setup.py", "def (:\n", held=True) == Package()
    assert setup_py("setup.py", "print('no call')\n", held=True) == Package()


PYPROJECT = """\
[project]
name = "My_Project"
dynamic = ["version"]
dependencies = ["torch>=2.6", "numpy"]

[project.optional-dependencies]
vllm = [
  "vllm>=0.8",  # rollout
]

[dependency-groups]
test = ["pytest", { include-group = "lint" }]

[tool.uv]
override-dependencies = ["transformers==5.5.3"]
"""


def test_the_standard_tables_of_pyproject() -> None:
    found = pyproject("pyproject.toml", PYPROJECT, held=True)

    assert rows(found) == [
        (4, "pyproject", "pyproject.toml", "torch>=2.6"),
        (4, "pyproject", "pyproject.toml", "numpy"),
        (8, "extra", "vllm", "vllm>=0.8"),
        (12, "group", "test", "pytest"),
    ]
    assert [item.held for item in found.asked] == [True, True, False, False]
    assert (found.name, found.dynamic) == ("my-project", frozenset({"version"}))
    assert found.overrides == {"transformers"}


def test_the_same_requirement_below_two_keys_has_two_lines() -> None:
    text = (
        '[project]\nname = "a"\n[project.optional-dependencies]\none = [\n"x==1",\n]\ntwo = [\n"x==1",\n]\n'
    )

    assert [line for line, *_ in rows(pyproject("pyproject.toml", text, held=True))] == [5, 8]


def test_a_file_of_dependencies_is_followed() -> None:
    text = '[tool.setuptools.dynamic]\ndependencies = { file = ["requirements.txt"] }\n'
    found = pyproject("pyproject.toml", text, held=True)

    assert (found.files, found.dynamic) == (("requirements.txt",), None)


def test_what_uv_builds_from_a_repository_has_no_window() -> None:
    text = (
        '[project]\nname = "a"\ndependencies = ["bridge>=1", "torch==2.11"]\n[tool.uv.sources]\n'
        'bridge = { git = "https://example.invalid/b.git", rev = "641a5a0" }\ntorch = { index = "cuda" }\n'
    )
    bridge, torch = pyproject("pyproject.toml", text, held=True).asked

    assert (str(bridge.window), bridge.reference) == ("", "git+https://example.invalid/b.git@641a5a0")
    assert (str(torch.window), torch.reference) == ("==2.11", None)


def test_setup_cfg() -> None:
    text = (
        "[metadata]\nname = demo\n[options]\ninstall_requires =\n    torch>=2.6\n    numpy\n"
        "[options.extras_require]\nvllm =\n    vllm>=0.8\n"
    )
    found = setup_cfg("setup.cfg", text, held=True)

    assert found.name == "demo"
    assert rows(found) == [
        (5, "setup.cfg", "setup.cfg", "torch>=2.6"),
        (6, "setup.cfg", "setup.cfg", "numpy"),
        (9, "extra", "vllm", "vllm>=0.8"),
    ]


SETUP = """\
from setuptools import setup
raise SystemExit("never run")
BASE = ["torch>=2.6"]
VLLM = ["vllm>=0.8"] + BASE
extras = {"vllm": VLLM, "all": [*VLLM, "numpy"], **{}}
setup(name="demo", install_requires=BASE + ["numpy<2"], extras_require=extras)
"""


def test_names_and_sums_of_setup_py_are_followed() -> None:
    found = setup_py("setup.py", SETUP, held=True)

    assert rows(found) == [
        (3, "setup.py", "setup.py", "torch>=2.6"),
        (6, "setup.py", "setup.py", "numpy<2"),
        (4, "extra", "vllm", "vllm>=0.8"),
        (3, "extra", "vllm", "torch>=2.6"),
        (4, "extra", "all", "vllm>=0.8"),
        (3, "extra", "all", "torch>=2.6"),
        (5, "extra", "all", "numpy"),
    ]


def test_a_file_that_setup_py_reads_is_followed() -> None:
    text = "import setuptools\nsetuptools.setup(name='d', install_requires=read('requirements.txt'))\n"

    assert setup_py("setup.py", text, held=True).files == ("requirements.txt",)


def test_a_name_that_stands_for_itself_ends() -> None:
    assert setup_py("setup.py", "deps = deps + ['a']\nsetup(install_requires=deps)\n", held=True).asked != ()
