"""What is installed in an environment, read from its files: distributions, what they provide, and where from."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.markers import default_environment
from packaging.utils import canonicalize_name

from example_sanity.core.errors import UsageError
from example_sanity.core.regex import regex

_SITE = ("site-packages", "dist-packages")
_MINOR = regex(r"python(\d+\.\d+)t?$")
_ENDINGS = (".py", ".so", ".pyd")


class Distribution:
    """One installed distribution; what needs more than its name and version is read when asked for."""

    def __init__(self, name: str, found: importlib.metadata.Distribution, folder: Path) -> None:
        """Take what importlib.metadata found in ``folder``."""
        self.name = name
        self.version = found.version
        self.folder = folder
        self._found = found

    @cached_property
    def requires(self) -> tuple[str, ...]:
        """Its requirements, as text."""
        return tuple(self._found.requires or ())

    @cached_property
    def extras(self) -> frozenset[str]:
        """The normalised names of its extras."""
        named = self._found.metadata.get_all("Provides-Extra") or []
        return frozenset(canonicalize_name(str(name)) for name in named)

    @cached_property
    def _direct(self) -> Mapping[str, object]:
        try:
            data = json.loads(self._found.read_text("direct_url.json") or "{}")
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    @cached_property
    def checkout(self) -> Path | None:
        """The folder that an editable installation points to."""
        url, kind = self._direct.get("url"), self._direct.get("dir_info")
        if isinstance(url, str) and isinstance(kind, dict) and kind.get("editable"):
            return Path(unquote(urlsplit(url).path))
        return None

    @cached_property
    def built_from(self) -> str | None:
        """Where it was built from, when that was no index: an address, with the commit where it is known."""
        url, source = self._direct.get("url"), self._direct.get("vcs_info")
        commit = source.get("commit_id") if isinstance(source, dict) else None
        return f"{url}@{commit}" if url and commit else str(url) if url else None

    @cached_property
    def regular(self) -> frozenset[str]:
        """Its regular top-level packages and modules; a namespace, which others may share, is none."""
        found = set()
        for path in self._paths():
            top, _, rest = path.partition("/")
            if rest == "__init__.py":
                found.add(top)
            elif not rest and top.endswith(_ENDINGS):
                found.add(top.partition(".")[0])
        return frozenset(
            name for name in found if name.isidentifier() and not name.startswith("__editable__")
        )

    def _paths(self) -> Iterator[str]:
        """The paths of its files, relative to the folder; RECORD is read as text: that of torch has 15,000 lines."""
        record = self._found.read_text("RECORD")
        if record is not None:
            yield from (line.partition(",")[0] for line in record.splitlines())
        else:
            yield from (path.as_posix() for path in self._found.files or ())


class Environment:
    """An environment: the folders of its packages, its Python version, and the values for environment markers."""

    def __init__(self, folders: Sequence[Path], version: str, prefix: Path) -> None:
        """Open the environment at ``prefix``; ``version`` is that of its Python, as "3.11" or longer."""
        self.folders = tuple(folders)
        self.version = version
        self.prefix = prefix

    @cached_property
    def all(self) -> tuple[Distribution, ...]:
        """Every distribution, in the order in which Python looks; a name that is there twice is there twice."""
        found = []
        for folder in self.folders:
            inside = []
            for item in importlib.metadata.distributions(path=[str(folder)]):
                name = item.metadata["Name"]
                if name and item.version:
                    inside.append(Distribution(canonicalize_name(name), item, folder))
            found += sorted(inside, key=lambda item: (item.name, item.version))
        return tuple(found)

    @cached_property
    def distributions(self) -> Mapping[str, Distribution]:
        """The distributions by normalised name, each as Python would find it."""
        found: dict[str, Distribution] = {}
        for item in self.all:
            found.setdefault(item.name, item)
        return found

    @cached_property
    def markers(self) -> dict[str, str]:
        """The values of environment markers: this host's, with the environment's Python."""
        values = {key: str(value) for key, value in default_environment().items()}
        minor = ".".join(self.version.split(".")[:2])
        full = self.version if self.version.count(".") >= 2 else f"{minor}.0"
        if self.version not in {values["python_version"], values["python_full_version"]}:
            values |= {"python_version": minor, "python_full_version": full, "implementation_version": full}
        return values

    @cached_property
    def platform(self) -> str:
        """npu, rocm or gpu: what the installed packages are for."""
        if "torch-npu" in self.distributions:
            return "npu"
        torch = self.distributions.get("torch")
        return "rocm" if torch and "rocm" in torch.version else "gpu"

    @cached_property
    def editable_folders(self) -> tuple[Path, ...]:
        """The further folders that .pth files of the environment put on the module path."""
        found = []
        for folder in self.folders:
            for file in sorted(folder.glob("*.pth")):
                lines = _text(file).splitlines()
                paths = [
                    folder / line for line in lines if line.strip() and not line.startswith(("import", "#"))
                ]
                found += [path for path in paths if path.is_dir()]
        return tuple(found)

    @cached_property
    def editable_packages(self) -> Mapping[str, Path]:
        """Where the import hooks of editable installations find their packages."""
        found: dict[str, Path] = {}
        for folder in self.folders:
            for file in sorted(folder.glob("__editable___*_finder.py")):
                found |= {name: Path(path) for name, path in _mapping(_text(file)).items()}
        return found


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


def _mapping(text: str) -> dict[str, str]:
    """The MAPPING that setuptools writes into the hook of an editable installation."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    for node in tree.body:
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(node, ast.Assign):
            target = node.targets[0] if isinstance(node.targets[0], ast.Name) else None
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and target.id == "MAPPING" and isinstance(value, ast.Dict):
            pairs = zip(value.keys, value.values, strict=True)
            return {
                str(key.value): str(path.value)
                for key, path in pairs
                if isinstance(key, ast.Constant) and isinstance(path, ast.Constant)
            }
    return {}


def running() -> Environment:
    """Return the environment of the Python that runs."""
    folders = [Path(folder) for folder in sys.path if folder.endswith(_SITE)]
    return Environment(folders, ".".join(map(str, sys.version_info[:3])), Path(sys.prefix))


def at(path: Path) -> Environment:
    """Return the environment of an interpreter, a virtual environment or a folder of packages; nothing is run.

    Raises UsageError where no folder of packages belongs to it.
    """
    if path.is_dir():
        holds_packages = path.name in _SITE or any(path.glob("*.dist-info"))
        found = _folder(path) if holds_packages else _prefix(path)
    else:
        found = _prefix(path.parent.parent, path.resolve().name)
        if found is None:
            found = _prefix(path.resolve().parent.parent, path.resolve().name)
    if found is None:
        raise UsageError(
            f"{path}: no site-packages belong to it; name an interpreter, a virtual environment or a folder"
        )
    return found


def _folder(path: Path) -> Environment:
    minor = _MINOR.search(path.parent.name)
    prefix = path.parent.parent.parent if minor else path
    version = _configured(prefix).get("version") if minor else None
    here = ".".join(map(str, sys.version_info[:3]))
    return Environment([path], version or (minor[1] if minor else here), prefix)


def _configured(prefix: Path) -> dict[str, str]:
    """The settings in pyvenv.cfg; ``version`` is filled from what either venv, virtualenv or uv write."""
    lines = _text(prefix / "pyvenv.cfg").splitlines()
    found = {key.strip().lower(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    version = re.match(r"\d+\.\d+(?:\.\d+)?", found.get("version") or found.get("version_info") or "")
    found["version"] = version[0] if version else ""
    return found


def _prefix(prefix: Path, program: str = "") -> Environment | None:
    settings = _configured(prefix)
    exact = _MINOR.search(program)
    minor = ".".join(settings["version"].split(".")[:2]) or (exact[1] if exact else _newest(prefix))
    folders = [folder for folder in _site_folders(prefix, minor) if folder.is_dir()]
    if not folders:
        return None
    found = _MINOR.search(folders[0].parent.name)
    version = settings["version"] or (found[1] if found else ".".join(map(str, sys.version_info[:3])))
    if settings.get("include-system-site-packages", "").lower() == "true" and settings.get("home"):
        base = Path(settings["home"]).parent
        folders += [folder for folder in _site_folders(base, minor) if folder.is_dir()]
    # lib64 is often a link to lib.
    return Environment(list({folder.resolve(): folder for folder in folders}.values()), version, prefix)


def _newest(prefix: Path) -> str:
    """The newest Python that has packages below a prefix; "*" where its folders do not say."""
    found = [_MINOR.search(folder.parent.name) for folder in _site_folders(prefix, "*")]
    return max(
        (item[1] for item in found if item), key=lambda text: tuple(map(int, text.split("."))), default="*"
    )


def _site_folders(prefix: Path, minor: str) -> Iterator[Path]:
    roots = [prefix / "local", prefix] if prefix == Path("/usr") else [prefix]
    for root in roots:
        for library in ("lib", "lib64"):
            for kind in _SITE:
                yield from sorted((root / library).glob(f"python{minor}/{kind}"))
    yield prefix / "Lib" / "site-packages"
    if prefix == Path("/usr"):
        yield prefix / "lib/python3/dist-packages"
