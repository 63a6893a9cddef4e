"""DOC014: commands that set what the script does not read."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, cast

from example_sanity.checks.docs.base import DocumentRule
from example_sanity.checks.docs.mentions import ancestors
from example_sanity.core.errors import Uninspectable, nearest
from example_sanity.core.finding import Edit, Fix, Severity, Span
from example_sanity.core.project import SHELL_SUFFIXES
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Document
    from example_sanity.core.finding import Finding
    from example_sanity.launch.quoted import QuotedCommand
    from example_sanity.launch.syntax import Script

_SHELLS = frozenset({"bash", "sh", "zsh", "source", "."})
# Prefixes of variables that programs read, not the script.
_FOREIGN = regex(
    r"(?:CUDA|NCCL|HF|HUGGINGFACE|TRANSFORMERS|VLLM|SGLANG|SGL|RAY|WANDB|SWANLAB|MLFLOW|TORCH|PYTORCH|PYTHON|OMP|MKL|HYDRA|"
    r"ASCEND|HCCL|ROCM|HIP|RCCL|NVTE|NVIDIA|GLOO|TRITON|TOKENIZERS|LD|XLA|TF|SLURM|MASTER|MODELSCOPE|CONDA|PIP|UV|GIT|DEBIAN|"
    r"TRT|TENSORRT|UCX|NVSHMEM|MOONCAKE|LMCACHE|FLASH|FLA|TE|CUBLAS|TASK_QUEUE|ACLNN|ATB|MC2|CPU|no|http|https|HTTP|HTTPS|NO)_?"
    r".*"
)
_ARGUMENT_READS = regex(r"\$\{?[@*#1-9]|\bshift\b|\bgetopts?\b|\$\{!|\bBASH_ARGV\b")
_SCRIPT = "examples/run_a_fsdp.sh"
_FILES = {_SCRIPT: 'NNODES=${NNODES:-1}\npython3 train.py --nodes "$NNODES"\n'}


class DocUnusedSetting(DocumentRule):
    """A quoted command sets a variable, or passes an argument, that the script does not read.

    The command then runs with the default, and nothing says so. A variable counts as read where the script, a script that
    it mentions, or a Python file of the repository has its name; variables of well-known programs (``NCCL_``, ``VLLM_``)
    are passed over.
    """

    code = "DOC014"
    name = "doc-unused-setting"
    summary = "a quoted command sets what the script does not read"
    severity = Severity.WARNING
    bad = (
        Example(f"```bash\nNNODE=2 bash {_SCRIPT}\n```\n", "README.md", _FILES),
        Example(f"```bash\nbash {_SCRIPT} trainer.steps=5\n```\n", "README.md", _FILES),
    )
    good = (Example(f"```bash\nNNODES=2 NCCL_DEBUG=INFO bash {_SCRIPT}\n```\n", "README.md", _FILES),)

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        for block in document.blocks:
            if not block.is_shell or ".sh" not in block.text:
                continue
            for command in block.quoted.commands:
                script = _script(command, document, context)
                if script is not None:
                    yield from self._variables(command, script, document, context)
                    yield from self._arguments(command, script, document, context)

    def _variables(
        self, command: QuotedCommand, script: Script, document: Document, context: Context
    ) -> Iterator[Finding]:
        text = None
        for name, value in command.environment:
            if _FOREIGN.fullmatch(name):
                continue
            text = _text(script, context) if text is None else text
            if re.search(rf"\b{name}\b", text) or _in_python(name, context):
                continue
            knobs = {item.via for item in script.assignments if item.via and item.via.isidentifier()}
            best = nearest(name, knobs, 65)
            start = value.span.column
            span = Span(value.span.line, start, value.span.line, start + len(name))
            fix = Fix(f"write {best}", (Edit(document.path, span, best),), safe=False) if best else None
            hint = f"; the nearest knob is {best}" if best else ""
            yield self.finding(document.path, span, f"{script.path} does not read {name}{hint}", fix=fix)

    def _arguments(
        self, command: QuotedCommand, script: Script, document: Document, context: Context
    ) -> Iterator[Finding]:
        names = [word.text.rpartition("/")[2] for word in command.words]
        at = names.index(script.path.rpartition("/")[2])
        given = [word for word in command.words[at + 1 :] if word.text not in ("&", "...")]
        if given and not _ARGUMENT_READS.search(_text(script, context)):
            yield self.finding(
                document.path,
                given[0].span,
                f"{script.path} reads no arguments, so {given[0].text} has no effect",
            )


def _script(command: QuotedCommand, document: Document, context: Context) -> Script | None:
    """Return the script of the project that a command runs."""
    words = [word.text for word in command.words if word.fixed]
    if words and words[0] in _SHELLS:
        words = [word for word in words[1:] if not word.startswith("-")]
    if not words or not words[0].endswith(SHELL_SUFFIXES) or words[0].startswith(("/", "~")):
        return None
    for base in ancestors(document.folder):
        path = posixpath.normpath(posixpath.join(base, words[0]))
        if path in context.project.all_files:
            return _loaded(path, context)
    return None


def _loaded(path: str, context: Context) -> Script | None:
    try:
        (found,) = context.load(Subject.SCRIPT, path)
    except Uninspectable:
        return None
    return cast("Script", found)


def _text(script: Script, context: Context) -> str:
    """The text of a script and of those whose names it mentions, and theirs."""
    texts: dict[str, str] = {}
    waiting = [script.path]
    while waiting:
        path = waiting.pop()
        if path in texts:
            continue
        texts[path] = context.project.read(path).decode("utf-8", "replace")
        for name in set(re.findall(r"[\w.+-]+\.(?:sh|bash|slurm|sbatch)\b", texts[path])):
            waiting += context.project.files_named(name)
    return "\n".join(texts.values())


def _in_python(name: str, context: Context) -> bool:
    names: frozenset[str] = context.once("docs environment", lambda: _environment_names(context))
    return name in names


_CAPITALS = regex(rb"[\"']([A-Z][A-Z0-9_]{2,})[\"']")


def _environment_names(context: Context) -> frozenset[str]:
    """The names in capitals that Python files quote: each may be a variable that they read."""
    project = context.project
    sources = (path for path in project.all_files if path.endswith(".py"))
    return frozenset(name.decode() for path in sources for name in _CAPITALS.findall(project.read(path)))
