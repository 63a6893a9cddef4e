"""SHL007-009, SHL015: how a script is laid out. Arguments, strictness, Slurm's directives, the files it sources."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from example_sanity.checks.knobs.sourcing import places_of, source_sites
from example_sanity.checks.shell.base import TextRule, ancestors
from example_sanity.checks.shell.options import ShellOptions
from example_sanity.core.finding import Finding, Severity
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example
from example_sanity.launch.launchers import LAUNCHERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.shell.base import Text
    from example_sanity.launch.syntax import CommandSite, Script

_PYTHON = regex(r"(?:.*/)?python[\d.]*")
_DIRECTIVE = regex(rb"^#SBATCH[ \t]+(\S.*)$", re.MULTILINE)
_NO_COMMANDS = frozenset({":", "set", "shopt", "trap", "export", "echo", "exit", "true", "umask", "ulimit"})
_STRICT = regex(r"-\w*e\w*|errexit")
# Made by tools on the machine, not kept in repositories.
_LOCAL = regex(
    r"(?:^|/)(?:activate|\.env[\w.]*|set_?env\.sh|setvars\.sh|conda\.sh|bashrc|\.\w+rc)$|(?:^|/)\.?venv/"
)
_BRANCHES = frozenset({"if_statement", "list", "case_item", "while_statement"})
_SHEBANG_E = regex(rb"#![^\n]*\s-\w*e")


def launch_sites(script: Script) -> list[CommandSite]:
    """Return the commands that start a program, as far as the source shows their names."""
    return [
        site
        for site in script.commands
        if site.name and (site.name.rpartition("/")[2] in LAUNCHERS or _PYTHON.fullmatch(site.name))
    ]


class ArgumentsNotForwarded(TextRule):
    """A launcher does not hand its arguments on, in a folder where the configuration says that launchers do.

    ``bash run.sh trainer.total_epochs=1`` then starts the run as it is written, and says nothing. Off until
    ``forward-arguments`` names folders.
    """

    code = "SHL007"
    name = "arguments-not-forwarded"
    summary = "a launcher drops its arguments"
    severity = Severity.WARNING
    bad = (
        Example(
            "python3 -m trainer.main trainer.nnodes=1\n",
            files={"example-sanity.toml": "[shell]\nforward-arguments = ['examples']\n"},
        ),
    )
    good = (
        Example(
            'python3 -m trainer.main trainer.nnodes=1 "$@"\n',
            files={"example-sanity.toml": "[shell]\nforward-arguments = ['examples']\n"},
        ),
        Example("python3 -m trainer.main trainer.nnodes=1\n"),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Judge the scripts under the folders of ``forward-arguments``."""
        roots = context.options("shell", ShellOptions).forward_arguments
        return super().applies(path, context) and bool(roots) and context.in_scope(path, roots)

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        sites = launch_sites(text.script)
        used = any(read.name in ("@", "*") or read.name.isdigit() for read in text.script.reads)
        if sites and not used:
            yield self.finding(
                text.script.path,
                _last(text.script, sites).span,
                'the arguments of the script are not handed on; end the command with "$@", so that '
                f"bash {posixpath.basename(text.script.path)} KEY=VALUE has an effect",
            )


def _last(script: Script, sites: list[CommandSite]) -> CommandSite:
    """The command that most likely launches: the last one, also where an array holds its name."""
    return [site for site in script.commands if site in sites or site.name is None][-1]


class DirectiveAfterCommand(TextRule):
    """An ``#SBATCH`` line stands below the first command, where sbatch no longer looks.

    The job is queued without it, with the defaults of the cluster.
    """

    code = "SHL008"
    name = "sbatch-after-command"
    summary = "an #SBATCH line below the first command has no effect"
    source = "sbatch manual: processing stops at the first line that is neither comment nor empty"
    bad = (Example("#!/bin/bash\n#SBATCH --nodes=2\nset -e\n#SBATCH --gres=gpu:8\nsrun python3 train.py\n"),)
    good = (
        Example(
            "#!/bin/bash\n#SBATCH --nodes=2\n\n# more\n#SBATCH --gres=gpu:8\nset -e\nsrun python3 train.py\n"
        ),
        Example("cat > job.sh <<'E'\n#SBATCH --nodes=2\nE\nsbatch job.sh\n"),
    )

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        first = next(
            (i for i, line in enumerate(text.lines) if line.strip() and not line.lstrip().startswith(b"#")),
            None,
        )
        if first is None:
            return
        for match in _DIRECTIVE.finditer(text.data, text.starts[first]):
            if text.kind_at(match.start()) == "comment":
                option = match[1].decode("utf-8", "replace").strip()
                yield self.finding(
                    text.script.path,
                    text.span(match.start(), match.end()),
                    f"sbatch stops reading at the command of line {first + 1}, so {option} has no effect; move it above",
                )


class MissingSource(TextRule):
    """A script sources a file that is not in the repository.

    Judged where the path is literal or begins at the script's own folder, and where no ``if``, ``&&`` or ``||`` guards
    it. What tools make on the machine (``.venv/bin/activate``, ``.env``) is left alone, and so are a file that the script
    mentions elsewhere, as it may write it, and a name without a folder that no file of the repository has: bash looks
    for such a one on the ``PATH`` first.
    """

    code = "SHL009"
    name = "missing-source"
    summary = "a sourced file is not there"
    bad = (Example('source "$(dirname "$0")/models/qwen3.sh"\npython3 train.py\n'),)
    good = (
        Example(
            'source "$(dirname "$0")/models/qwen3.sh"\npython3 train.py\n',
            files={"examples/grpo_trainer/models/qwen3.sh": "MODEL=qwen3\n"},
        ),
        Example("source .venv/bin/activate\nif [ -f env.sh ]; then source env.sh; fi\npython3 train.py\n"),
        Example("source /etc/profile.d/modules.sh\nsource $CONDA_HOME/init.sh\npython3 train.py\n"),
    )

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        for site in source_sites(text.script):
            places = places_of(site, text.script)
            if (
                not places
                or places[-1].startswith(("/", ".."))
                or any(_LOCAL.search(place) for place in places)
            ):
                continue
            files = context.project.all_files
            if any(place in files for place in places) or _is_excused(text, site, places[-1]):
                continue
            name = site.words[1].text
            if "/" not in name and not any(path.rpartition("/")[2] == name for path in files):
                continue
            yield self.finding(
                text.script.path,
                site.words[1].span,
                f"{places[-1]} is not in the repository, neither from the script's folder nor from the root; "
                "correct the path, or guard it with a test that the file exists",
            )


def _is_excused(text: Text, site: CommandSite, place: str) -> bool:
    name = posixpath.basename(place).encode()
    if text.data.count(name) > 1:
        return True
    return any(node.type in _BRANCHES for node in ancestors(text.node_at(site.start)))


class NotStrict(TextRule):
    """A script does more than launch, and goes on when a step fails, because it does not say ``set -e``.

    A failed download or conversion is followed by a training run on what is left of the last one. Off unless ``also``
    or ``select`` names it.
    """

    code = "SHL015"
    name = "not-strict"
    summary = "a launcher goes on after a failed step"
    severity = Severity.INFO
    opt_in = True
    bad = (
        Example(
            "python3 prepare.py\npython3 train.py\n",
            files={"example-sanity.toml": "[shell]\nalso = ['not-strict']\n"},
        ),
    )
    good = (
        Example(
            "set -euo pipefail\npython3 prepare.py\npython3 train.py\n",
            files={"example-sanity.toml": "[shell]\nalso = ['not-strict']\n"},
        ),
        Example("python3 prepare.py\npython3 train.py\n"),
    )

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        script = text.script
        steps = [
            site
            for site in script.commands
            if site.name and site.name not in _NO_COMMANDS and not site.function
        ]
        if not launch_sites(script) or len(steps) < 2 or _is_strict(text):
            return
        yield self.finding(
            script.path,
            steps[0].span,
            f"{len(steps)} commands run one after the other, also when one fails; begin with 'set -euo pipefail'",
        )


def _is_strict(text: Text) -> bool:
    sets = (site for site in text.script.commands if site.name == "set")
    return bool(_SHEBANG_E.match(text.data)) or any(
        _STRICT.fullmatch(word.text) for site in sets for word in site.words[1:]
    )
