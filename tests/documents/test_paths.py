"""DOC001: paths in documents. What may belong to something else comes first."""

from __future__ import annotations

import json

import pytest

from example_sanity.checks.docs.paths import DanglingPath
from example_sanity.core.finding import Finding, Severity
from example_sanity.testing import check_rule

FILES = {
    "examples/ppo/run_a_fsdp.sh": "python3 -m app.train\n",
    "examples/README.md": "# Examples\n",
    "app/train.py": "print(1)\n",
    "app/utils/data.py": "print(1)\n",
    "docs/start/install.md": "# Install\n",
    "docs/a.png": "",
}


def found(text: str, path: str = "README.md", **more: str) -> list[Finding]:
    return check_rule(DanglingPath, text, path=path, files={**FILES, **more})


def messages(text: str, path: str = "README.md") -> list[str]:
    return [f"{item.span.line}:{item.span.column} {item.message}" for item in found(text, path)]


@pytest.mark.parametrize(
    "text",
    [
        "`examples/ppo/run_a_fsdp.sh`, `examples/ppo/`, `examples/ppo`",
        "`./app/train.py:12` and `app/train.py#L3` and `app/train.py::main` and `app/train::main`",
        "from the clone: `repo/examples/ppo/run_a_fsdp.sh`; in the package: `utils/data.py`",
        "`examples/*/run_*_fsdp.sh`, `examples/**/*.sh`, `app/{train,utils/data}.py`",
        "`examples/<trainer>/run.sh`, `examples/{name}/run.sh`, `examples/$NAME/run.sh`, `examples/ppo/your_script.sh`",
        "`" + "app/" * 2000 + "gone.py`",
        "`/path/to/app/gone.py`, `~/app/gone.py`, `s3://app/gone.py`, `$HOME/app/gone.py`, `https://x.org/app/gone.py`",
        "`Qwen/Qwen3-8B`, `data/gsm8k/train.parquet`, and/or",
        "`app/outputs/`, `app/checkpoints/step_1`, `app/logs/a.txt`",
        "[a](examples/README.md#x) [b](https://x.org/gone.md) [c](#anchor) [d](mailto:a@b.c) [e](docs/start/install.html)",
        "[f](/docs/start/install.md) [g](docs/start/install) ![h](docs/a.png) [i](<docs/a.png>) [j](../issues)",
        "```bash\ncd app && python3 train.py utils/data.py\ngit clone x app/gone.py\necho 1 > app/new.sh\nbash app/new.sh\n```",
        "```bash\ncd /opt/other\nbash examples/gone.sh\n```",
        "```python\nopen('app/gone.py')\n```",
        "```bash\nPYTHONPATH=./src:./other python3 app/gone.py\n```",
        "a change of app/train.py/gone in prose, app/gone without a suffix",
    ],
)
def test_what_is_there_or_may_be_elsewhere_is_silent(text: str) -> None:
    assert messages(text) == []


def test_what_git_ignores_or_a_submodule_holds_is_silent() -> None:
    text = "`app/config.local.yaml`, `recipe/dapo/run.sh`"
    extra = {".gitignore": "*.local.yaml\n", ".gitmodules": '[submodule "recipe"]\n\tpath = recipe\n'}
    assert found(text, **extra) == []


@pytest.mark.parametrize(
    "text",
    [
        "(set-up)=\n# Set up\n\nSee [above](set-up) and [the engine](engine-options).\n",
        "| Run | State |\n|---|---|\n| a | [#12](url) [log](job_link) [b](<link>) |\n",
        "Read the [guidelines](/org/repo/blob/main/CONTRIBUTING.md).\n",
        "```bash\nwget -P scripts/ https://x.org/a/tool.py\npython3 ./scripts/tool.py\n```\n",
        "```bash\ncurl -o app/fetched.yaml https://x.org/raw\n```\n\nThen see `app/fetched.yaml`.\n",
        "Create `serve_a_fsdp.sh` on the first node:\n\n```bash\nbash serve_a_fsdp.sh\n```\n",
        "The contents of the serve_a_fsdp.sh script:\n\n```bash\nbash serve_a_fsdp.sh\n```\n",
        "**Example file: `app/mixed.yaml`**\n\n```yaml\na: 1\n```\n",
        "`pytest tests/test_foobar.py`, `app/dummy.py`",
    ],
)
def test_labels_addresses_to_be_and_what_the_reader_makes_are_silent(text: str) -> None:
    extra = {"docs/engines.md": "(engine-options)=\n# Engines\n", "scripts/a.py": "", "tests/test_a.py": ""}
    assert found(text, **extra) == []


def test_a_download_in_a_cell_of_a_notebook() -> None:
    cells = [
        {"cell_type": "code", "source": ["if missing:\n", "  !wget -P app/ https://x.org/tool.py\n"]},
        {"cell_type": "code", "source": ["!python app/tool.py\n", "!python app/other.py\n"]},
    ]
    text = json.dumps({"cells": cells}, indent=1)
    assert [item.message for item in found(text, "docs/a.ipynb")] == ["app/other.py does not exist"]


def test_objects_of_the_api_are_what_myst_looks_up() -> None:
    text = "[Loss](app.loss.Loss) and [gone](gone.md)\n"
    conf = {"docs/conf.py": "extensions = ['myst_parser']\n"}
    assert [item.message for item in found(text, "docs/a.md", **conf)] == ["the file gone.md does not exist"]


def test_what_git_ignores_below_a_folder_is_silent() -> None:
    text = "[made](docs/reference.md), `docs/reference.md`, [not](reference.md)"
    assert found("`app/unit_runs/`", **{".gitignore": "app/unit_runs/\n"}) == []
    extra = {"docs/.gitignore": "reference.md\n"}
    assert [item.message for item in found(text, **extra)] == ["the file reference.md does not exist"]


def test_templates_of_pages_and_archives_are_not_judged() -> None:
    for path in ("docs/_templates/page.md", "examples/archived/old.md"):
        assert found("[a](../gone.md) `examples/ppo/gone.sh`", path) == []


def test_a_link_with_escapes_is_named_as_it_reads() -> None:
    (item,) = found("[a](docs/%E5%AE%89%E8%A3%85.md)")
    assert item.message == "the file docs/\u5b89\u88c5.md does not exist"


def test_an_address_behind_something_else_is_no_file() -> None:
    assert messages("[a]('https://example.org/a')") == [
        "1:5 'https://example.org/a' is no address: one begins with its scheme"
    ]


def test_a_file_that_is_named_or_edited_should_be_there() -> None:
    text = "A test named `app/gone.py`; edit `app/gone.yaml`.\n"
    assert [item.message for item in found(text)] == [
        "app/gone.py does not exist",
        "app/gone.yaml does not exist",
    ]


def test_what_another_repository_calls_a_file_is_silent() -> None:
    other = "https://github.com/org/other/blob/main/app/gone.py"
    assert messages(f"[app/gone.py]({other}) and [`app/gone.py`]({other})") == []
    assert messages("[app/gone.py](https://example.org/app/gone.py)") == ["1:2 app/gone.py does not exist"]


def test_a_rooted_image_of_sphinx_is_looked_for_beside_its_configuration() -> None:
    extra = {"docs/source/conf.py": "", "docs/source/img/a.png": ""}
    text = ".. image:: /img/a.png\n\n.. image:: /img/b.png\n"
    (item,) = found(text, "docs/source/deep/a.rst", **extra)
    assert item.message.startswith("the image /img/b.png does not exist")


def test_a_host_alone_is_an_address() -> None:
    (item,) = found("[a](example.ai)")
    assert item.message == "example.ai is no file; a link to another site begins with https://"


def test_of_translations_the_first_is_near() -> None:
    extra = {"docs/en/grpo.md": "", "docs/zh/grpo.md": ""}
    (item,) = found("`docs/grpo.md`", **extra)
    assert item.message == "docs/grpo.md does not exist; the nearest is docs/en/grpo.md"


def test_history_is_not_judged() -> None:
    for path in ("CHANGELOG.md", "docs/blog/v1.md", "docs/release_notes.md"):
        assert messages("`app/gone.py`", path) == []


def test_a_file_that_moved_is_named() -> None:
    assert messages("Run\n`examples/run_a_fsdp.sh`.") == [
        "2:2 examples/run_a_fsdp.sh does not exist; the nearest is examples/ppo/run_a_fsdp.sh"
    ]
    (item,) = found("Run `examples/run_a_fsdp.sh`.")
    assert item.fix is not None
    assert (item.fix.edits[0].text, item.fix.safe) == ("examples/ppo/run_a_fsdp.sh", False)


def test_a_script_under_another_name() -> None:
    # The README names run_b, the file is run_a.
    assert messages("```bash\nTP=2 bash examples/ppo/run_b_fsdp.sh\n```") == [
        "2:11 examples/ppo/run_b_fsdp.sh does not exist; the nearest is examples/ppo/run_a_fsdp.sh"
    ]


def test_running_text_and_rst() -> None:
    assert messages("See app/gone.py now.") == ["1:5 app/gone.py does not exist"]
    assert messages("See ``app/utils/date.py``.\n", "docs/a.rst") == [
        "1:7 app/utils/date.py does not exist; the nearest is app/utils/data.py"
    ]
    assert messages(".. literalinclude:: ../app/gone.py\n", "docs/a.rst") == [
        "1:21 the file to include ../app/gone.py does not exist"
    ]


def test_links_start_at_the_document() -> None:
    assert messages("[x](install.md)", "docs/a.md") == [
        "1:5 the file install.md does not exist; the nearest is start/install.md"
    ]
    (item,) = found("[x](app/train.py)", "docs/a.md")
    assert item.message == "app/train.py is looked for in docs/, not in the root; write ../app/train.py"
    assert item.severity is Severity.WARNING
    assert item.fix is not None
    assert (item.fix.edits[0].text, item.fix.safe) == ("../app/train.py", True)


def test_a_link_without_a_scheme() -> None:
    assert messages("[x](github.com/a/b)") == [
        "1:5 github.com/a/b is no file; a link to another site begins with https://"
    ]


def test_a_name_of_rst_without_its_underscore() -> None:
    text = ".. _data: https://x.org/d\n\n`the data <data>`_\n"
    assert messages(text, "docs/a.rst") == [
        "3:12 the link data is a name, which has an underscore behind it: <data_>"
    ]


def test_globs_that_match_nothing() -> None:
    assert messages("`examples/ppo/*_megatron.sh`") == ["1:2 nothing matches examples/ppo/*_megatron.sh"]


def test_foreign_paths_are_passed_over() -> None:
    text = "`app/other/gone.py`"
    assert len(found(text)) == 1
    assert (
        check_rule(DanglingPath, text, path="README.md", files=FILES, options={"foreign": ["app/other/"]})
        == []
    )


def test_scripts_without_a_folder() -> None:
    assert messages("`run_a_fsdp.sh`, `train_my_model.sh`, `start.sh`") == []
    assert messages("```bash\ncat > run_a_fsdpp.sh\nbash run_a_fsdpp.sh\n```") == []
    assert messages("```bash\ncd examples/ppo\nbash run_aa_fsdp.sh\n```") == [
        "3:6 no file of the repository is called run_aa_fsdp.sh; the nearest is examples/ppo/run_a_fsdp.sh"
    ]
    assert messages("`run_a_fsdp2.sh`") == [
        "1:2 no file of the repository is called run_a_fsdp2.sh; the nearest is examples/ppo/run_a_fsdp.sh"
    ]
