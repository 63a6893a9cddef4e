"""Which files a repository consists of, and what they hold."""

from __future__ import annotations

import os
import subprocess
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.baseline import DEFAULT
from example_sanity.core.errors import Uninspectable, UsageError, did_you_mean
from example_sanity.core.gitignore import matcher
from example_sanity.core.places import PRUNED, Places, survey
from example_sanity.core.regex import regex
from example_sanity.core.trace import LISTING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

SHELL_SUFFIXES = (".sh", ".bash", ".slurm", ".sbatch")
CONFIG_NAMES = ("example-sanity.toml", "pyproject.toml")
_SCRIPT_SUFFIX = regex(rb"\.(?:sh|bash|slurm|sbatch)\b")
_NAME_BEFORE = regex(rb"[\w.+-]*\Z")
_SHELL_SHEBANG = regex(rb"#!\s*(?:/usr)?(?:/bin/)(?:env\s+(?:-\S+\s+)*)?(?:ba|da|k|z)?sh(?:\s|$)")


class Stamp(msgspec.Struct, frozen=True, array_like=True):
    """What the system says of a file: its size in bytes, times in nanoseconds, and number."""

    size: int
    modified: int
    changed: int
    number: int


class Project:
    """A folder, the files that belong to it, and their contents (each read once).

    ``watch`` is told what is looked at, as core.trace names it. Who reads files past this class tells it, too.
    ``root`` is absolute. All other paths are relative to it, with forward slashes.
    """

    def __init__(
        self,
        root: Path,
        exclude: Sequence[str] = (),
        include: Sequence[str] = (),
        known: Project | None = None,
    ) -> None:
        """Open the project; ``exclude`` and ``include`` are gitignore-style patterns.

        What ``known``, the same folder, has listed and read is taken over. Who asks for files gets a UsageError where a
        pattern is none.
        """
        self.root = root.resolve()
        self._prefix = f"{self.root}/"
        self._exclude = _Patterns("exclude", exclude)
        self._include = _Patterns("include", include)
        self._bytes: dict[str, bytes] = dict(known._bytes) if known else {}
        self._stamps: dict[str, Stamp | None] = dict(known._stamps) if known else {}
        if known and "_all_files" in vars(known):
            self._all_files = known._all_files
        self._shebangs: dict[str, bool] = {}
        self.watch: Callable[[str], None] = _watch_nothing

    @property
    def all_files(self) -> tuple[str, ...]:
        """Every file, sorted: git's view (tracked, or untracked and not ignored) where there is git."""
        self.watch(LISTING)
        return self._all_files

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are not excluded."""
        self.watch(LISTING)
        return self._files

    @property
    def folders(self) -> frozenset[str]:
        """Every folder that holds a file, without a trailing slash; the root is the empty string."""
        self.watch(LISTING)
        return self._folders

    @property
    def listing(self) -> tuple[str, ...]:
        """The same as ``all_files``, for who does not depend on it."""
        return self._all_files

    def files_named(self, name: str) -> tuple[str, ...]:
        """Return the files with a name, wherever they stand, for who does not depend on the listing."""
        return self._by_name.get(name, ())

    @cached_property
    def _by_name(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for path in self._all_files:
            name = path.rpartition("/")[2]
            found[name] = (*found.get(name, ()), path)
        return found

    def peek(self, path: str) -> bytes | None:
        """Return the bytes of a file for who does not depend on them; None where it cannot be read."""
        try:
            return self._content(path)
        except Uninspectable:
            return None

    @cached_property
    def _all_files(self) -> tuple[str, ...]:
        listed = _git_files(self.root)
        return tuple(sorted(_walk(self.root) if listed is None else listed))

    @cached_property
    def _files(self) -> tuple[str, ...]:
        return tuple(path for path in self._all_files if not self.is_excluded(path))

    @cached_property
    def _folders(self) -> frozenset[str]:
        found = {""}
        for path in self._all_files:
            parent = path.rpartition("/")[0]
            while parent not in found:
                found.add(parent)
                parent = parent.rpartition("/")[0]
        return frozenset(found)

    @cached_property
    def places(self) -> Places:
        """What there is besides the contents of the files, for who does not depend on it."""
        return survey(self.root, self._all_files, self._folders)

    def callers(self, path: str) -> tuple[str, ...]:
        """Return the scripts and YAML files that mention the name of a file, itself left out."""
        self.watch(f"callers:{path}")
        return self.callers_of(path)

    def callers_of(self, path: str) -> tuple[str, ...]:
        """The same as ``callers``, for who does not depend on it."""
        name = path.rpartition("/")[2].encode("utf-8", "surrogateescape")
        if name.endswith(tuple(suffix.encode() for suffix in SHELL_SUFFIXES)):
            found = self._mentions.get(name, ())
        else:
            found = [other for other in self.calling if name in (self.peek(other) or b"")]
        return tuple(other for other in found if other != path)

    @cached_property
    def calling(self) -> tuple[str, ...]:
        """The files that may mention others, for who does not depend on the listing."""
        return tuple(path for path in self._all_files if path.endswith((*SHELL_SUFFIXES, ".yml", ".yaml")))

    @cached_property
    def _mentions(self) -> dict[bytes, list[str]]:
        mentions: dict[bytes, list[str]] = {}
        for path in self.calling:
            for name in _script_names(self.peek(path) or b""):
                mentions.setdefault(name, []).append(path)
        return mentions

    def is_excluded(self, path: str) -> bool:
        """Return whether the configuration leaves the file out."""
        return self._exclude.match(path) or (bool(self._include) and not self._include.match(path))

    def relative(self, path: Path) -> str:
        """Return a path of the host relative to the root; the root itself is ".". Raises UsageError outside it."""
        absolute = Path(os.path.normpath(Path.cwd() / path))
        for candidate in (absolute, absolute.parent.resolve() / absolute.name):
            if candidate.is_relative_to(self.root):
                return candidate.relative_to(self.root).as_posix()
        raise UsageError(f"{path} lies outside the project {self.root}; name its root with --root")

    def under(self, path: str) -> Iterator[str]:
        """Yield the files at or below a path; a file is yielded even where git ignores it."""
        if path == ".":
            yield from self.files
        elif (self.root / path).is_dir():
            yield from (name for name in self.files if name.startswith(path + "/"))
        else:
            yield path

    def read(self, path: str) -> bytes:
        """Return the bytes of a file. Raises Uninspectable (SYS001)."""
        self.watch(f"file:{path}")
        return self._content(path)

    def _content(self, path: str) -> bytes:
        if path not in self._bytes:
            # Before the file is read: what is written in between makes it another file.
            self._stamps[path] = self.stamp(path)
            try:
                self._bytes[path] = _read_regular(self.root / path)
            except OSError as error:
                raise Uninspectable("SYS001", f"cannot read the file: {error.strerror or error}") from error
        return self._bytes[path]

    def stamp(self, path: str) -> Stamp | None:
        """Return what the system says of a file now; None where there is none."""
        try:
            about = os.stat(f"{self._prefix}{path}" if path[:1] != "/" else path)  # noqa: PTH116  # speed
        except (OSError, ValueError):
            return None
        return Stamp(about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)

    def stamp_when_read(self, path: str) -> Stamp | None:
        """Return what the system said of a file just before it was read."""
        return self._stamps.get(path)

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a file for excerpts; none where it cannot be read."""
        try:
            return self.read(path).decode("utf-8", "replace").split("\n")
        except Uninspectable:
            return ()

    def hold(self, path: str, data: bytes) -> None:
        """Take ``data`` for the content of a file, whatever is on disk: what an editor has not saved yet."""
        self._bytes[path] = data

    def holds(self, path: str) -> bool:
        """Return whether there is such a file, folder or link, or its content was handed over."""
        full = self.root / path
        return path in self._bytes or full.exists() or full.is_symlink()

    def text(self, path: str) -> str:
        """Return the text of a file. Raises Uninspectable (SYS001, SYS002)."""
        data = self.read(path)
        if b"\0" in data:
            offset = data.index(b"\0")
            raise Uninspectable("SYS002", f"the file is not text: it holds a NUL byte at offset {offset}")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = data[error.start]
            message = f"the file is not UTF-8: byte 0x{byte:02x} at offset {error.start} ({error.reason})"
            raise Uninspectable("SYS002", message) from error

    def is_shell(self, path: str) -> bool:
        """Return whether the file is a shell script: by its suffix, or by its first line where it has none."""
        suffix = _suffix(path)
        if suffix:
            return suffix in SHELL_SUFFIXES
        self.watch(f"file:{path}")
        if path not in self._shebangs:
            self._shebangs[path] = self._has_shell_shebang(path)
        return self._shebangs[path]

    def may_be_shell(self, path: str) -> bool:
        """Return whether the file is a shell script or would be one with another first line."""
        return _suffix(path) in ("", *SHELL_SUFFIXES)

    def _has_shell_shebang(self, path: str) -> bool:
        if path in self._bytes:
            return bool(_SHELL_SHEBANG.match(self._bytes[path]))
        try:
            with (self.root / path).open("rb") as stream:
                return bool(_SHELL_SHEBANG.match(stream.readline(200)))
        except OSError:
            return False


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1]  # noqa: PTH122  # called for every file: pathlib is ten times slower


def _watch_nothing(name: str) -> None:
    """Nobody wants to know what is looked at."""


def locate(paths: Sequence[Path], root: Path | None = None, config: Path | None = None) -> Path:
    """Return the root of the project that a call is about. Raises UsageError for a path that does not exist."""
    for path in (*paths, *filter(None, (root, config))):
        if not path.exists() and not path.is_symlink():
            raise UsageError(f"no such file or folder: {path}{_nearby(path)}")
    return (root or find_root(paths)).resolve()


def _nearby(path: Path) -> str:
    folder = path.parent
    return did_you_mean(str(path), [str(item) for item in folder.iterdir()]) if folder.is_dir() else ""


def find_root(paths: Sequence[Path]) -> Path:
    """Return the nearest folder above all paths that has a configuration or baseline of ours or is a git checkout.

    Where there is none it is the current folder if that holds the paths, else the nearest folder above them.
    """
    absolute = [Path(os.path.normpath(Path.cwd() / path)) for path in paths] or [Path.cwd()]
    common = Path(os.path.commonpath([path if path.is_dir() else path.parent for path in absolute])).resolve()
    for folder in (common, *common.parents):
        ours = any(_has_our_table(folder / name) for name in CONFIG_NAMES) or (folder / DEFAULT).is_file()
        if ours or (folder / ".git").exists():
            return folder
    here = Path.cwd().resolve()
    return here if common.is_relative_to(here) else common


def _has_our_table(path: Path) -> bool:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return False
    return path.name != "pyproject.toml" or "[tool.example-sanity" in text


def _script_names(text: bytes) -> set[bytes]:
    """The names of scripts that a text mentions: found by their suffix, which is a hundred times as fast as by name."""
    names = set()
    for suffix in _SCRIPT_SUFFIX.finditer(text):
        before = _NAME_BEFORE.search(text, max(0, suffix.start() - 120), suffix.start())
        names.add((before[0] if before else b"") + suffix[0])
    return names


def _read_regular(path: Path) -> bytes:
    # A named pipe or a device would block or never end.
    if path.exists() and not path.is_file():
        raise OSError("not a regular file")
    return path.read_bytes()


def _git_files(root: Path) -> list[str] | None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    except OSError:
        return None
    if done.returncode != 0:
        return None
    names = os.fsdecode(done.stdout).split("\0")
    return [name for name in names if name and not name.endswith("/") and _is_file_or_link(root, name)]


def _is_file_or_link(root: Path, name: str) -> bool:
    # git also lists deleted files and submodules.
    full = f"{root}/{name}"
    return os.path.isfile(full) or os.path.islink(full)  # noqa: PTH113, PTH114  # speed


def _walk(root: Path) -> Iterator[str]:
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in PRUNED)
        prefix = os.path.relpath(folder, root).replace(os.sep, "/")
        for name in files:
            yield name if prefix == "." else f"{prefix}/{name}"


class _Patterns:
    """Gitignore-style patterns of a key of the configuration."""

    def __init__(self, key: str, patterns: Iterable[str]) -> None:
        self._key = key
        self._patterns = tuple(patterns)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    @cached_property
    def _matches(self) -> Callable[[str], bool]:
        try:
            return matcher(self._patterns)
        except ValueError as error:
            raise UsageError(f"{self._key}: {error}") from error

    def match(self, path: str) -> bool:
        return bool(self._patterns) and self._matches(path)
