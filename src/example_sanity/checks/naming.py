"""NAM: the file names of launchers. The convention is ``run_<model>_<backend>.sh``; runtime choices are no names."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, cast

import msgspec

from example_sanity.core.errors import Uninspectable, nearest
from example_sanity.core.finding import Finding, Related, Span
from example_sanity.core.project import SHELL_SUFFIXES
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.launch.command import Entry, Launch
    from example_sanity.launch.settings import Setting

BACKENDS = ("fsdp", "fsdp2", "fsdp_turbo", "megatron", "megatron_lite", "mindspeed", "automodel", "veomni")
FORBIDDEN = {
    "inference engine": ("vllm", "sglang", "trtllm"),
    "platform": ("npu", "gpu", "cuda", "rocm", "amd", "ascend"),
    "machine type": (
        "a100",
        "h100",
        "h200",
        "b200",
        "b300",
        "gb200",
        "gb300",
        "hopper",
        "blackwell",
        "mi300x",
    ),
    "precision": ("fp8", "fp4", "nvfp4", "mxfp4", "mxfp8", "int4", "int8", "awq", "gptq"),
}


# The literal comes first, so that the search is fast; then what may stand in front of it.
_SOURCES = regex(r"source(?=\s)(?<![^;&|\s]source)|\.(?=\s)(?<![^;&|\s]\.)")


_HANDFUL = 3


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A setting that tells the backend of a launch: ``key`` set to ``value`` means one of ``backends``."""

    key: str
    value: str
    backends: tuple[str, ...]


_FSDP = ("fsdp", "fsdp2", "fsdp_turbo")
_MCORE = ("megatron", "mindspeed")
_ENGINES = {
    "fsdp": _FSDP,
    "fsdp2": _FSDP,
    "fsdp_turbo": ("fsdp_turbo",),
    "dp": _FSDP,
    "megatron": _MCORE,
    "mindspeed": _MCORE,
    "mlite": ("megatron_lite",),
    "automodel": ("automodel",),
    "veomni": ("veomni",),
}
# verl: trainer/config/{ppo_trainer,sft_trainer_engine}.yaml select the engine by these keys and groups.
EVIDENCE = tuple(
    Evidence(key, value.format(engine), backends)
    for engine, backends in _ENGINES.items()
    for key, value in (
        ("model_engine", "{}"),
        ("engine", "{}"),
        ("actor_rollout_ref.actor.strategy", "{}"),
        ("actor@actor_rollout_ref.actor", "{}_actor"),
    )
)


class NamingOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.naming]``.

    ``roots`` are the folders whose shell scripts are launchers by convention. ``prefix`` begins and ``extension`` ends
    a name; between them stands the model, then one of ``backends``. ``forbidden`` maps a kind of runtime choice to
    its tokens. ``characters`` is the class of characters that a name may use. ``evidence`` tells which settings
    reveal the backend of a launch.
    """

    roots: tuple[str, ...] = ("examples",)
    prefix: str = "run_"
    extension: str = ".sh"
    characters: str = "A-Za-z0-9._-"
    backends: tuple[str, ...] = BACKENDS
    forbidden: dict[str, tuple[str, ...]] = msgspec.field(default_factory=lambda: dict(FORBIDDEN))
    evidence: tuple[Evidence, ...] = EVIDENCE


class Name(msgspec.Struct, frozen=True):
    """A file name taken apart. ``model`` is what stands between prefix and backend, None where there is no room."""

    file: str
    stem: str
    extension: str
    backend: str | None
    model: str | None

    @property
    def tokens(self) -> list[str]:
        """The words of the stem, lower case, split at underscores, hyphens and dots."""
        return re.split(r"[_.-]", self.stem.lower())


def parse_name(path: str, options: NamingOptions) -> Name:
    """Take a script's name apart; the longest backend that the stem ends in wins."""
    file = path.rpartition("/")[2]
    stem, dot, suffix = file.rpartition(".")
    if not dot:
        stem, suffix = file, ""
    endings = [backend for backend in options.backends if stem.endswith(f"_{backend}")]
    backend = max(endings, key=len, default=None)
    body = stem.removesuffix(f"_{backend}") if backend else stem
    prefix = options.prefix
    model = body.removeprefix(prefix) if body.startswith(prefix) else None
    return Name(file, stem, f"{dot}{suffix}", backend, model)


def _pattern(options: NamingOptions) -> str:
    return f"{options.prefix}<model>_<backend>{options.extension}"


class _NameRule(Rule):
    """A rule that judges a script by its path alone."""

    subject = Subject.SCRIPT_PATH

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        return _is_judged(path, context)

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        path = cast("str", subject)
        options = context.options("naming", NamingOptions)
        for message in self._messages(parse_name(path, options), options):
            yield self.finding(path, Span(), message)

    def _messages(self, name: Name, options: NamingOptions) -> Iterable[str]:
        """Return a message for each thing that is wrong with the name."""
        raise NotImplementedError


class ScriptNameShape(_NameRule):
    """A launcher's name does not have the shape ``run_<model>_<backend>.sh``.

    People and CI jobs find launchers by their names, so a name says which model runs on which training backend and
    nothing else. Reported are a missing ``run_``, a missing model, empty words, characters that need quoting in a
    shell, and another extension.
    """

    code = "NAM001"
    name = "script-name-shape"
    summary = "a launcher is not named run_<model>_<backend>.sh"
    bad = (Example("python3 train.py\n", path="examples/sft/run_fsdp.sh"),)
    good = (Example("python3 train.py\n", path="examples/sft/run_qwen3_8b_fsdp.sh"),)

    def _messages(self, name: Name, options: NamingOptions) -> Iterator[str]:
        shape = _pattern(options)
        if name.extension != options.extension:
            yield f"{name.file} ends in {name.extension or 'no extension'}; a launcher is named {shape}"
        bad = sorted(set(re.findall(f"[^{options.characters}]", name.stem)))
        if bad:
            shown = ", ".join(map(repr, bad))
            yield f"{name.file} has characters that a name may not have: {shown} (allowed: [{options.characters}])"
        if not name.stem.startswith(options.prefix):
            yield f"{name.file} does not start with {options.prefix!r}; a launcher is named {shape}"
        elif name.backend and not (name.model or "").strip("_-."):
            yield f"{name.file} names no model between {options.prefix!r} and '_{name.backend}'; expected {shape}"
        elif "__" in name.stem:
            yield f"{name.file} has an empty word ('__'); expected {shape}"


class ForbiddenToken(_NameRule):
    """A launcher's name contains something that is chosen at run time: an inference engine, a platform, a precision.

    Such a choice belongs in an environment variable of the one launcher (``INFER_BACKEND=vllm``): one file per
    combination multiplies files that then drift apart. Case does not matter, and hyphens count as underscores.
    """

    code = "NAM002"
    name = "forbidden-token"
    summary = "a launcher's name contains a runtime choice"
    bad = (Example("python3 train.py\n", path="examples/ppo/run_qwen3-VLLM_fsdp.sh"),)
    good = (Example("python3 train.py\n", path="examples/ppo/run_qwen3_vl_8b_fsdp.sh"),)

    def _messages(self, name: Name, options: NamingOptions) -> Iterator[str]:
        tokens = name.tokens
        pairs = ["".join(pair) for pair in itertools.pairwise(tokens)]  # trt-llm is trtllm
        for kind, words in options.forbidden.items():
            found = [word for word in words if word in tokens or (word not in tokens and word in pairs)]
            if found:
                shown = ", ".join(map(repr, found))
                variable = re.sub(r"\W", "_", kind.upper())
                yield (
                    f"{name.file} contains {shown}; the {kind} is chosen at run time, so drop it from the name and read it "
                    f"from the environment (such as {variable}=${{{variable}:-{found[0]}}})"
                )


class MissingBackendSuffix(_NameRule):
    """A launcher's name does not end in a known training backend.

    The backend is the last part of the name, also where it has several words (``megatron_lite``). What follows it is a
    feature, and features are environment variables.
    """

    code = "NAM003"
    name = "missing-backend-suffix"
    summary = "a launcher's name does not end in a training backend"
    bad = (Example("python3 train.py\n", path="examples/ppo/run_qwen3_8b_fsdp_multi_node.sh"),)
    good = (Example("python3 train.py\n", path="examples/ppo/run_qwen3_8b_megatron_lite.sh"),)

    def _messages(self, name: Name, options: NamingOptions) -> Iterator[str]:
        # A name without a model is NAM001's: one mistake, one finding.
        if name.backend or name.stem.removeprefix(options.prefix) in options.backends:
            return
        backends = ", ".join(options.backends)
        yield f"{name.file} does not end in a backend{self._hint(name, options)}; backends are: {backends}"

    @staticmethod
    def _hint(name: Name, options: NamingOptions) -> str:
        inside = [b for b in options.backends if re.search(rf"_{re.escape(b)}(?=_|-|\.|$)", name.stem)]
        if inside:
            backend = max(inside, key=len)
            rest = name.stem.partition(f"_{backend}")[2].lstrip("_-.")
            return f": {rest!r} follows {backend!r}; make it an environment variable, or move the backend to the end"
        words = name.stem.split("_")
        best = nearest("_".join(words[-2:]), options.backends, 75) or nearest(words[-1], options.backends, 75)
        return f" (did you mean '_{best}{options.extension}'?)" if best else ""


class NameContradictsLaunch(Rule):
    """A launcher's name says one training backend, and what it launches by default uses another.

    The launcher is evaluated, so it does not matter how the setting reaches the command line. Only settings that name
    the backend outright count, and only in the default scenario: the others exist to change it.
    """

    code = "NAM004"
    name = "name-contradicts-launch"
    summary = "the name says one backend, the evaluated launch uses another"
    subject = Subject.DEFAULT_LAUNCH
    source = "verl: trainer/config/ppo_trainer.yaml and sft_trainer_engine.yaml choose the engine"
    bad = (
        Example(
            "python3 -m verl.trainer.main_ppo model_engine=megatron\n",
            path="examples/ppo/run_qwen3_8b_fsdp.sh",
        ),
    )
    good = (
        Example(
            "python3 -m verl.trainer.main_ppo model_engine=megatron\n",
            path="examples/ppo/run_qwen3_8b_megatron.sh",
        ),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Judge what the other naming rules judge, where the text could say another backend at all."""
        return _is_judged(path, context) and _may_contradict(
            path, context, context.options("naming", NamingOptions)
        )

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Compare the name with the settings of each entry in the default scenario."""
        launch = cast("Launch", subject)
        options = context.options("naming", NamingOptions)
        name = parse_name(launch.script.path, options)
        if name.backend is None:
            return
        for entry in launch.entries:
            yield from self._judge(name, entry, launch.script.path, options)

    def _judge(self, name: Name, entry: Entry, path: str, options: NamingOptions) -> Iterator[Finding]:
        found = _evidence(entry, options)
        named = [backend for backend in options.backends if f"_{backend}_" in f"_{name.stem}_"]
        if not found or any(backend in backends for _, backends in found for backend in named):
            return
        setting, backends = found[-1]
        label = f"this setting selects {' or '.join(backends)}"
        fits = name.stem.removesuffix(f"_{name.backend}") + f"_{backends[0]}{options.extension}"
        yield self.finding(
            path,
            Span(),
            f"{name.file} says {name.backend}, but {setting.key}={setting.raw} makes it {' or '.join(backends)}; "
            f"name it {fits}, or change the setting",
            related=(Related(setting.origin.path, setting.origin.span, label),),
        )


def _is_judged(path: str, context: Context) -> bool:
    """Whether a file is a launcher of a repository that has the convention: it is asked for, or most names follow it."""
    options = context.options("naming", NamingOptions)
    if not context.in_scope(path, options.roots):
        return False
    config = context.config
    asked = config.path is not None or config.preset is not None or config.select
    return bool(asked) or context.once("naming convention", lambda: _is_followed(context, options))


def _is_followed(context: Context, options: NamingOptions) -> bool:
    """Whether half of the launchers are named so; fewer than a handful tell nothing."""
    files = (path for path in context.project.files if path.endswith(SHELL_SUFFIXES))
    names = [parse_name(path, options) for path in files if context.in_scope(path, options.roots)]
    fitting = sum(name.backend is not None and bool(name.model) for name in names)
    return len(names) < _HANDFUL or 2 * fitting >= len(names)


def _may_contradict(path: str, context: Context, options: NamingOptions) -> bool:
    """Whether evidence for another backend is among the words of the script, or of one that it sources.

    A value that no text contains cannot be evaluated to, and evaluating takes a hundred times as long as looking.
    """
    backend = parse_name(path, options).backend
    if backend is None:
        return False
    try:
        text = context.project.read(path).decode("utf-8", "replace")
    except Uninspectable:
        return False
    values = {item.value for item in options.evidence if backend not in item.backends}
    # Plain searches come first: they say no to most scripts, a hundred times as fast.
    found = [re.escape(value) for value in sorted(values) if value in text]
    if found and re.search(rf"(?<![A-Za-z0-9])(?:{'|'.join(found)})(?![A-Za-z0-9])", text):
        return True
    return _SOURCES.search(text) is not None


def _evidence(entry: Entry, options: NamingOptions) -> list[tuple[Setting, tuple[str, ...]]]:
    from example_sanity.launch.settings import settings

    known = {(item.key, item.value): item.backends for item in options.evidence}
    winners = {item.key: item for item in settings(entry) if item.stable}
    return [(item, known[item.key, item.raw]) for item in winners.values() if (item.key, item.raw) in known]


RULES: tuple[type[Rule], ...] = (ScriptNameShape, ForbiddenToken, MissingBackendSuffix, NameContradictsLaunch)
OPTIONS = NamingOptions
