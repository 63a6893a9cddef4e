"""Flag tables of small programs: what is read, what is left open, and that both agree with argparse itself."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

import msgspec
import pytest

from example_sanity.schema.argparse.reading import read_table
from example_sanity.schema.argparse.table import FlagTable
from helpers import Write

_HEAD = "import argparse\nparser = argparse.ArgumentParser()\n"
_TAIL = "args = parser.parse_args()\n"


def _table(write: Write, files: dict[str, str] | str, entry: str = "train.py") -> FlagTable:
    given = {entry: files} if isinstance(files, str) else files
    root = write({name: textwrap.dedent(text) for name, text in given.items()})
    table = read_table(root / entry, root, [(root / entry).parent, root])
    assert table is not None
    return table


def _names(table: FlagTable) -> set[str]:
    return set(table.known) - {"-h", "--help"}


def _body(write: Write, body: str) -> FlagTable:
    return _table(write, _HEAD + textwrap.dedent(body) + _TAIL)


def test_literal_flags_have_their_details(write: Write) -> None:
    table = _body(
        write,
        """\
        group = parser.add_argument_group("model")
        group.add_argument("-n", "--num-layers", type=int, default=2, help="layers")
        group.add_argument("--fp16", action="store_true")
        group.add_argument("--split", nargs="+", type=float)
        group.add_argument("--pair", nargs=2)
        group.add_argument("--decay", choices=["cosine", "linear"], help="Deprecated: use --schedule")
        """,
    )

    layers = table.known["--num-layers"][0]
    assert layers.names == ("-n", "--num-layers")
    assert (layers.type, layers.default, layers.nargs, layers.path, layers.line) == (
        "int",
        2,
        1,
        "train.py",
        4,
    )
    assert table.known["--fp16"][0].nargs == 0
    assert table.known["--split"][0].nargs == "+"
    assert table.known["--pair"][0].nargs == 2
    assert table.known["--decay"][0].choices == ("cosine", "linear")
    assert table.known["--decay"][0].deprecated == "Deprecated: use --schedule"
    assert (table.lenient, table.abbreviations, table.unresolved) == (False, True, ())


def test_help_that_mentions_a_deprecated_value_deprecates_no_flag(write: Write) -> None:
    table = _body(write, 'parser.add_argument("--optimizer", help="adam or sgd; dist_adam is deprecated")\n')

    assert table.known["--optimizer"][0].deprecated is None


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("for n in ('a', 'b'):\n    parser.add_argument(f'--{n}-size')\n", {"--a-size", "--b-size"}),
        ("for n, t in [('a', int)]:\n    parser.add_argument('--' + n, type=t)\n", {"--a"}),
        ("for n in [x for x in ('a', 'b') if x != 'b']:\n    parser.add_argument('--' + n)\n", {"--a"}),
        ("add = parser.add_argument\nadd('--a')\n", {"--a"}),
        ("parser.add_argument(*['--a', '-a'], **{'type': int})\n", {"--a", "-a"}),
        (
            "parser.add_argument('--x', action=argparse.BooleanOptionalAction)\n",
            {"--x", "--no-x"},
        ),
        (
            "OPTIONS = {'--a': 1, '--b': 2}\nfor k, v in OPTIONS.items():\n    parser.add_argument(k)\n",
            {"--a", "--b"},
        ),
        (
            "def reset_arg(parser, name, **kwargs):\n"
            "    for action in parser._actions:\n"
            "        if name in action.option_strings:\n"
            "            action.default = kwargs.get('default')\n"
            "            break\n"
            "    else:\n"
            "        parser.add_argument(name, **kwargs)\n"
            "reset_arg(parser, '--lr', type=float)\n",
            {"--lr"},
        ),
        (
            "class Builder:\n"
            "    def __init__(self, parser):\n"
            "        self.parser = parser\n"
            "    def build(self):\n"
            "        self.parser.add_argument('--a')\n"
            "        return self.parser\n"
            "parser = Builder(parser).build()\n",
            {"--a"},
        ),
        (
            "import functools\n"
            "def more(prefix, parser):\n"
            "    parser.add_argument(f'--{prefix}-a')\n"
            "functools.partial(more, 'x')(parser)\n",
            {"--x-a"},
        ),
        (
            "if parser.description:\n    parser.add_argument('--a')\nelse:\n    parser.add_argument('--b')\n",
            {"--a", "--b"},
        ),
        ("if False:\n    parser.add_argument('--a')\n", set()),
        (
            "parent = argparse.ArgumentParser(add_help=False)\nparent.add_argument('--p')\n"
            "parser = argparse.ArgumentParser(parents=[parent])\n",
            {"--p"},
        ),
    ],
)
def test_computed_flags_are_read(write: Write, body: str, names: set[str]) -> None:
    table = _body(write, body)

    assert _names(table) == names
    assert table.unresolved == ()


def test_flags_come_from_imported_modules_and_extra_providers(write: Write) -> None:
    table = _table(
        write,
        {
            "pkg/__init__.py": "from .arguments import parse_args\n",
            "pkg/arguments.py": """\
                import argparse
                from pkg.more import *
                def parse_args(extra_args_provider=None, ignore_unknown_args=False):
                    parser = argparse.ArgumentParser(allow_abbrev=False)
                    parser = _add_model_args(parser)
                    if extra_args_provider is not None:
                        parser = extra_args_provider(parser)
                    if ignore_unknown_args:
                        args, _ = parser.parse_known_args()
                    else:
                        args = parser.parse_args()
                    return args
                """,
            "pkg/more.py": "def _add_model_args(parser):\n    parser.add_argument('--layers')\n    return parser\n",
            "train.py": """\
                from pkg import parse_args
                def extra(parser):
                    parser.add_argument("--extra")
                    return parser
                if __name__ == "__main__":
                    parse_args(extra_args_provider=extra)
                """,
        },
    )

    assert _names(table) == {"--layers", "--extra"}
    assert (table.lenient, table.abbreviations) == (False, False)
    assert table.known["--layers"][0].path == "pkg/more.py"


@pytest.mark.parametrize(
    ("tail", "lenient", "resolved"),
    [
        ("args, _ = parser.parse_known_args()\n", True, True),
        ("args, unknown = parser.parse_known_args()\n", True, True),
        ("args, unknown = parser.parse_known_args()\nprint(unknown)\n", True, False),
        ("args = parser.parse_known_args()[0]\n", True, True),
        ("both = parser.parse_known_args()\n", True, False),
        ("args = parser.parse_args()\n", False, True),
    ],
)
def test_what_becomes_of_unknown_flags(write: Write, tail: str, lenient: bool, resolved: bool) -> None:
    table = _table(write, _HEAD + "parser.add_argument('--a')\n" + tail)

    assert (table.lenient, not table.unresolved) == (lenient, resolved)


@pytest.mark.parametrize(
    "program",
    [
        "print('no command line')\n",
        _HEAD + "parser.parse_args(['--a'])\n",
        "import sys\nprint(sys.argv)\n",
        "this is no Python\n",
    ],
)
def test_what_reads_no_command_line_has_no_table(write: Write, program: str) -> None:
    root = write({"train.py": program})

    assert read_table(root / "train.py", root, [root]) is None


@pytest.mark.parametrize(
    "body",
    [
        "import engine\nengine.add_cli_args(parser)\n",
        "import os\nparser.add_argument(os.environ['FLAG'])\n",
        "import os\nfor n in os.listdir():\n    parser.add_argument('--' + n)\n",
        "import engine\nparser = argparse.ArgumentParser(parents=[engine.parser])\n",
        "import sys\nsys.argv.remove('--x')\n",
        "import sys\nsys.argv = sys.argv[:2]\n",
        "import sys\nsys.argv[1:] = []\n",
        "import sys\ndel sys.argv[1]\n",
    ],
)
def test_flags_that_cannot_be_read_leave_the_table_open(write: Write, body: str) -> None:
    assert _body(write, body).unresolved


def test_a_parser_from_elsewhere_leaves_the_table_open(write: Write) -> None:
    table = _table(
        write, "import engine\n" + _HEAD + "parser.parse_known_args()[0]\nengine.make().parse_args()\n"
    )

    assert table.unresolved


def test_a_wrapped_add_argument_gives_the_prefix_that_another_package_owns(write: Write) -> None:
    table = _body(
        write,
        """\
        from engine import ServerArgs, RouterArgs
        old = parser.add_argument
        def prefixed(*names, **kwargs):
            new = []
            for name in names:
                if name.startswith("-"):
                    stem = name.lstrip("-")
                    new.append(f"--engine-{stem}")
                else:
                    new.append(name)
            old(*new, **kwargs)
        parser.add_argument = prefixed
        ServerArgs.add_cli_args(parser)
        parser.add_argument = old
        RouterArgs.add_cli_args(parser, use_router_prefix=True)
        parser.add_argument("--engine-config")
        """,
    )

    assert table.prefixes == ("--engine-", "--router-")
    assert "--engine-config" in table.known
    assert table.unresolved == ()


def test_subcommands_are_one_table_with_their_parser(write: Write) -> None:
    table = _body(
        write,
        """\
        commands = parser.add_subparsers(dest="command")
        run = commands.add_parser("run")
        run.add_argument("--steps", type=int)
        """,
    )

    assert _names(table) == {"--steps"}
    assert table.takes_operands


def test_fields_of_a_dataclass_become_flags(write: Write) -> None:
    table = _table(
        write,
        """\
        import argparse, dataclasses
        @dataclasses.dataclass
        class Base:
            hidden: int = 4
        @dataclasses.dataclass
        class Config(Base):
            name: str = "x"
            fast: bool = False
        parser = argparse.ArgumentParser()
        for f in dataclasses.fields(Config):
            if f.type == bool:
                parser.add_argument(f"--{f.name}", action="store_true")
            else:
                parser.add_argument(f"--{f.name.replace('_', '-')}", type=f.type, default=f.default)
        parser.parse_args()
        """,
    )

    assert _names(table) == {"--hidden", "--name", "--fast"}
    assert table.known["--hidden"][0].type == "int"
    assert table.known["--fast"][0].nargs == 0


_FACTORY = """\
    import argparse
    from dataclasses import dataclass, field
    from enum import Enum
    from typing import Literal, Optional
    from megatron.training.argument_utils import ArgumentGroupFactory
    class Backend(Enum):
        flash = 1
        fused = 2
    @dataclass
    class Base:
        layers: int = 2
    @dataclass
    class Config(Base):
        fast: bool = False
        bias: bool = True
        lr: Optional[float] = None
        sizes: list[int] = field(default_factory=list)
        mode: Literal["a", "b"] = "a"
        backend: Backend = Backend.flash
        timers: object = None
        hidden: int = field(default=0, init=False)
        eps: float = field(default=1e-5, metadata={"argparse_meta": {"arg_names": ["--norm-eps"]}})
        window: tuple = field(default=None, metadata={"argparse_meta": {"nargs": 3, "type": int}})
    parser = argparse.ArgumentParser()
    ArgumentGroupFactory(Config, exclude=["timers"]).build_group(parser, "config")
    parser.parse_args()
    """


def test_megatrons_group_factory_makes_flags_of_a_dataclass(write: Write) -> None:
    table = _table(write, _FACTORY)

    assert _names(table) == {
        *("--layers", "--fast", "--no-bias", "--disable-bias", "--lr", "--sizes", "--mode", "--backend"),
        *("--norm-eps", "--window"),
    }
    assert (table.known["--fast"][0].nargs, table.known["--no-bias"][0].action) == (0, "store_false")
    assert (table.known["--lr"][0].type, table.known["--sizes"][0].nargs) == ("float", "+")
    assert table.known["--mode"][0].choices == ("a", "b")
    assert table.known["--backend"][0].choices == ("flash", "fused")
    assert (table.known["--window"][0].nargs, table.known["--window"][0].type) == (3, "int")
    assert table.unresolved == ()


def test_a_dataclass_with_a_base_from_elsewhere_leaves_the_table_open(write: Write) -> None:
    table = _table(write, _FACTORY.replace("class Base:", "class Base(ArgumentGroupFactory.Nowhere):"))

    assert "ArgumentGroupFactory.Nowhere" in table.unresolved[0]


_ANNOTATED = """\
    import argparse
    from dataclasses import dataclass
    from typing import List, Literal, Optional
    from engine.arg_utils import A, Arg, add_cli_args_from_dataclass
    CHOICES = ["auto", "dummy"]
    @dataclass
    class ServerArgs:
        model_path: A[str, Arg(help="where", aliases=["--model"])]
        port: A[int, "The port."] = 30000
        trust: A[bool, "Whether."] = False
        mode: A[Literal["a", "b"], "Which."] = "a"
        load_format: A[str, Arg(choices=CHOICES)] = "auto"
        sizes: A[Optional[List[int]], "Several."] = None
        tp_size: A[int, Arg(cli_name="--tensor-parallel-size", aliases=["--tp"])] = 1
        nodes: A[str, Arg(nargs="*")] = None
        hidden: A[int, Arg(no_cli=True)] = 1
        plain: int = 2
        @staticmethod
        def add_cli_args(parser):
            add_cli_args_from_dataclass(parser, ServerArgs)
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    parser.parse_args()
    """


@pytest.mark.parametrize("present", [False, True])
def test_annotated_fields_become_flags(write: Write, present: bool) -> None:
    helper = "from typing import Annotated\nA = Annotated\nclass Arg: ...\ndef add_cli_args_from_dataclass(parser, cls):\n    cls()\n"
    table = _table(write, {"train.py": _ANNOTATED, **({"engine/arg_utils.py": helper} if present else {})})

    assert _names(table) == {
        *("--model-path", "--model", "--port", "--trust", "--mode", "--load-format", "--sizes", "--nodes"),
        *("--tensor-parallel-size", "--tp"),
    }
    facts = {name: table.known[name][0] for name in _names(table)}
    assert (facts["--port"].type, facts["--trust"].nargs, facts["--sizes"].nargs) == ("int", 0, "+")
    assert (facts["--mode"].choices, facts["--load-format"].choices) == (("a", "b"), ("auto", "dummy"))
    assert (facts["--nodes"].nargs, facts["--tp"].type, table.unresolved) == ("*", "int", ())


def test_a_parser_class_on_top_of_hf_argument_parser(write: Write) -> None:
    source = """\
        from dataclasses import dataclass
        from transformers import HfArgumentParser
        @dataclass
        class Arguments:
            model_name: str
        class Plus(HfArgumentParser):
            def parse(self):
                return self.parse_args_into_dataclasses()
        class Own(HfArgumentParser):
            def __init__(self, kinds):
                super().__init__(kinds)
        args = {}((Arguments,)).parse_args_into_dataclasses()
        """

    plus = _table(write, source.replace("{}", "Plus"))
    assert {"--model_name", "--model-name"} <= _names(plus)
    assert plus.unresolved == ()
    assert _table(write, source.replace("{}", "Own")).unresolved


def test_hf_argument_parser(write: Write) -> None:
    table = _table(
        write,
        """\
        from dataclasses import dataclass, field
        from typing import Optional
        from transformers import HfArgumentParser
        @dataclass
        class Arguments:
            model_name: str = field(metadata={"help": "which"})
            use_lora: bool = False
            packing: bool = True
            max_steps: Optional[int] = None
        args = HfArgumentParser((Arguments,)).parse_args_into_dataclasses()
        """,
    )

    assert _names(table) == {
        *(
            "--model_name",
            "--model-name",
            "--use_lora",
            "--use-lora",
            "--packing",
            "--no_packing",
            "--no-packing",
        ),
        *("--max_steps", "--max-steps"),
    }
    assert table.known["--use_lora"][0].nargs == "?"
    assert table.known["--max_steps"][0].type == "int"
    assert not table.lenient


def test_tyro_gives_dotted_names(write: Write) -> None:
    table = _table(
        write,
        """\
        from dataclasses import dataclass, field
        import tyro
        @dataclass
        class Optim:
            learning_rate: float = 1e-5
        @dataclass
        class Arguments:
            optim: Optim = field(default_factory=Optim)
            steps: int = 3
            debug: bool = False
        tyro.cli(Arguments)
        """,
    )

    assert _names(table) == {"--optim.learning_rate", "--steps", "--debug", "--no-debug"}
    assert table.loose


def test_what_follows_the_reading_of_the_command_line_adds_nothing(write: Write) -> None:
    table = _table(write, _HEAD + _TAIL + "import engine\nengine.make().parse_args()\n")

    assert table.unresolved == ()


@pytest.mark.parametrize(
    "program",
    [
        "def parse_f(parser):\n    parse_f(parser)\nparse_f(parser)\n",
        "def parse_f(n, parser):\n    return [parse_f(n, parser) for n in range(400)]\nparse_f(0, parser)\n",
        "import train\ntrain.parser.add_argument('--x')\n",
    ],
)
def test_programs_that_never_end_on_paper_have_no_table_or_an_open_one(write: Write, program: str) -> None:
    root = write({"train.py": _HEAD + program + _TAIL})

    table = read_table(root / "train.py", root, [root])

    assert table is None or table.unresolved or program.startswith("import train")


def test_a_table_survives_json(write: Write) -> None:
    table = _table(write, _FACTORY)

    assert msgspec.json.decode(msgspec.json.encode(table), type=FlagTable) == table


_REAL = """\
import argparse
def build():
    parser = argparse.ArgumentParser()
    for name, kind in (("alpha", int), ("beta", float), ("gamma", str)):
        parser.add_argument(f"--{name}", type=kind)
        parser.add_argument(f"--{name}-list", nargs="*", type=kind)
    parser.add_argument("--switch", "-s", action="store_true")
    parser.add_argument("--maybe", nargs="?", const="x")
    parser.add_argument("--pair", nargs=2)
    parser.add_argument("--mode", choices=["on", "off"])
    parser.add_argument("--flag", action=argparse.BooleanOptionalAction)
    parser.add_argument("--times", action="count")
    return parser
if __name__ == "__main__":
    build().parse_args()
"""


def real_parser() -> argparse.ArgumentParser:
    """Return the parser of ``_REAL``, made by Python itself."""
    names: dict[str, object] = {"__name__": "real"}
    exec(_REAL, names)
    made = names["build"]
    assert callable(made)
    parser = made()
    assert isinstance(parser, argparse.ArgumentParser)
    return parser


def test_the_table_equals_what_argparse_holds(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_REAL)
    table = read_table(tmp_path / "train.py", tmp_path, [tmp_path])
    assert table is not None

    real = {name: action for action in real_parser()._actions for name in action.option_strings}

    assert set(table.known) == set(real)
    for name, action in real.items():
        flag = table.known[name][0]
        assert flag.nargs == (1 if action.nargs is None else action.nargs), name
        assert flag.type == getattr(action.type, "__name__", None), name
        assert flag.choices == (None if action.choices is None else tuple(action.choices)), name
