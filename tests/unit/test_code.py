"""The digest of code: what computes a spec's rows changes it, and nothing else does."""

import ast
import os
import subprocess
import sys
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lopsided.core import code, own_files, syntax
from lopsided.core.registry import engine_of, lookup
from lopsided.core.source import Place, Sources
from lopsided.core.spec import Spec

SPEC = Spec.parse(
    {
        "task": {"name": "sparse-parity", "d": 8, "k": 2},
        "model": {"name": "mlp"},
        "plan": {"name": "online", "batch": 16},
        "optimizer": {"name": "sgd", "lr": 0.1},
        "loss": "logistic",
        "steps": 100,
    }
)
ROOTS = [code._place(type(each)) for each in code._configs(SPEC)] + [code._place(engine_of(SPEC))]
PACKAGE = code._package()
REACHED = PACKAGE.reached(ROOTS)
MODULES = sorted({module.name for module, _ in REACHED})
DIGEST = PACKAGE.digest(ROOTS)


def with_texts(texts, moved=None):
    """The digest where some modules have other texts, or stand elsewhere."""
    return Sources(
        lambda name: texts[name] if name in texts else code._read_package(name),
        code._is_package, code._resolve, code._tables,
    ).digest([Place((moved or {}).get(place.module, place.module), place.name) for place in ROOTS])  # fmt: skip


def text_of(module):
    return code._read_package(module)


def test_it_says_which_rule_made_it():
    assert code.code_digest(SPEC).startswith("ast-1:")
    assert len(code.code_digest(SPEC)) == len("ast-1:") + 16


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_comments_blank_lines_and_docstrings_change_nothing(data):
    module = data.draw(st.sampled_from(MODULES))
    lines = text_of(module).splitlines()
    tree = ast.parse(text_of(module))
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.body[0].lineno > n.lineno]
    for node in sorted(
        data.draw(st.lists(st.sampled_from(functions), max_size=3, unique=True)), key=lambda n: -n.lineno
    ):
        first = node.body[0]
        lines.insert(first.lineno - 1, " " * first.col_offset + '"""Something else is said here."""')
    strings = {line for n in ast.walk(ast.parse("\n".join(lines))) if isinstance(n, ast.Constant | ast.JoinedStr)
               for line in range(n.lineno, n.end_lineno)}  # fmt: skip
    free = [i for i in range(len(lines) + 1) if i not in strings]
    for i in sorted(data.draw(st.lists(st.sampled_from(free), max_size=5, unique=True)), reverse=True):
        lines.insert(i, data.draw(st.sampled_from(["", "# a reason", "        # why"])))
    changed = "\n".join(lines)
    assert with_texts({module: changed}) == DIGEST


def literals():
    """(module, literal) for every number and text that the spec's code has, outside docstrings and errors."""
    for module, statement in REACHED:
        todo = [statement]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Constant) and type(node.value) in (int, float, str):
                yield module.name, node
            if isinstance(node, ast.JoinedStr):
                continue
            for _, value in syntax.fields_of(node):
                todo += [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST)]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(literals())))
def test_one_changed_literal_changes_it(found):
    module, node = found
    lines = text_of(module).splitlines(keepends=True)
    changed = repr(node.value + ("x" if isinstance(node.value, str) else 1))
    encoded = "".join(lines[: node.lineno - 1]).encode(), lines[node.lineno - 1].encode()
    if node.end_lineno != node.lineno:
        return  # a text over several lines
    line = encoded[1][: node.col_offset] + changed.encode() + encoded[1][node.end_col_offset :]
    text = (encoded[0] + line).decode() + "".join(lines[node.lineno :])
    assert with_texts({module: text}) != DIGEST


@pytest.mark.parametrize(
    "module", ["lopsided.tasks.arithmetic", "lopsided.models.transformer", "lopsided.engines.pool"]
)
def test_code_of_other_parts_changes_nothing(module):
    assert module not in MODULES
    assert with_texts({module: text_of(module) + "\nLARGE = 3\n"}) == DIGEST


def test_a_file_that_moves_changes_nothing():
    """`core.keys` becomes `core.draws`; those who import it say so, and nobody else."""
    texts = {
        name: text_of(name).replace("lopsided.core.keys", "lopsided.core.draws").replace(
            "from lopsided.core import keys", "from lopsided.core import draws as keys"
        )
        for name in MODULES
    }  # fmt: skip
    texts["lopsided.core.draws"] = texts.pop("lopsided.core.keys")
    assert with_texts(texts) == DIGEST


def test_two_helpers_that_change_places_are_seen():
    texts = {"a": "from b import f, g\ndef root(x): return f(x)\n", "b": "def f(x): return 1\ndef g(x): return 2\n"}
    swapped = {**texts, "a": "from b import g as f\ndef root(x): return f(x)\n"}
    found = [Sources(each.get).digest([Place("a", "root")]) for each in (texts, swapped)]
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        ("GAIN = 3\ndef other(): return 1\n", True),
        ("GAIN = 2\ndef other(): return 2\n", False),
        ("# why 2\nGAIN = 2\ndef other(): return 1\n", False),
        ("GAIN = 2\nGAIN += 1\ndef other(): return 1\n", True),
        ("def other(): return 1\ntry:\n    GAIN = 2\nexcept ImportError:\n    GAIN = 4\n", True),
    ],
)
def test_only_what_is_reached_counts(changed, counts):
    texts = {"own": "import helper\ndef root(x): return helper.GAIN * x\n"}
    before = Sources({**texts, "helper": "GAIN = 2\ndef other(): return 1\n"}.get).digest([Place("own", "root")])
    after = Sources({**texts, "helper": changed}.get).digest([Place("own", "root")])
    assert (before != after) == counts


def test_messages_and_annotations_change_nothing():
    def digest(text):
        return Sources({"own": text}.get).digest([Place("own", "root")])

    plain = digest("def root(x):\n    if x < 0: raise ValueError('below 0')\n    return x\n")
    told = digest("def root(x: float) -> float:\n    if x < 0: raise ValueError(f'{x}: negative')\n    return x\n")
    assert plain == told
    assert plain != digest("def root(x):\n    if x < 1: raise ValueError('below 0')\n    return x\n")


def test_a_table_that_the_code_reads_counts():
    text = "from importlib.resources import files\ndef root(): return files('somewhere')\n"
    found = [Sources({"own": text}.get, tables=lambda p, t=t: t).digest([Place("own", "root")]) for t in ("1", "2")]
    assert found[0] != found[1]


def test_pieces_of_text_count_for_tasks_that_cut_texts():
    task = lookup("recipe", "arithmetic").specs("laptop")["uniform"].task
    places = [code._place(type(each)) for each in code._configs(task)]
    assert any(list(syntax.tables_read_by(statement)) for _, statement in PACKAGE.reached(places))


FILE = """
from typing import Literal
from lopsided.part import register
from lopsided.tasks.sparse_parity import SparseParity
from neighbour import gain

@register
class Own(SparseParity):
    name: Literal["own-parity"] = "own-parity"

    def twice(self, x):
        return gain(x)

{recipe}
"""
NEIGHBOUR = "GAIN = {gain}\n\ndef gain(x):\n    return GAIN * x\n"


def in_a_process(program, folder, hash_seed="0"):
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_files_of_ones_own_and_their_neighbours_as_they_were_imported(tmp_path):
    """One process: the file and its neighbour are edited after they were imported."""
    (tmp_path / "own.py").write_text(FILE.format(recipe="recipe = 1"))
    (tmp_path / "neighbour.py").write_text(NEIGHBOUR.format(gain=2))
    ask = "import own; from lopsided.core import code; task = own.Own(d=8, k=2); print(code.parts_digest(task));"
    edit = "from pathlib import Path; f = Path(own.__file__).parent / 'neighbour.py'; f.write_text('GAIN = 5');"
    first, running = in_a_process(ask + edit + "print(code.parts_digest(task))", tmp_path)
    assert first == running  # what runs is what was imported
    (tmp_path / "neighbour.py").write_text(NEIGHBOUR.format(gain=3))
    (changed,) = in_a_process(ask, tmp_path)
    assert changed != first
    (tmp_path / "neighbour.py").write_text("# why 2\n" + NEIGHBOUR.format(gain=2))
    (tmp_path / "own.py").write_text(FILE.format(recipe="recipe = 2  # another claim"))
    assert in_a_process(ask, tmp_path) == [first]


NOTEBOOK = """
import functools, math
import numpy as np
GAIN = {gain}
TABLE = np.arange({table})
def helper(x):
    {docstring}
    return {helper} * x
half = functools.partial(lambda x, y: x * {partial}, y=1)
BY_NAME = {{"a": lambda x: x + {in_a_dictionary}}}
CHAIN = [lambda x: x - {in_a_list}]
class Box:
    def __init__(self):
        self.size = {attribute}
    def value(self):
        return self.size + {method}
BOX, bound = Box(), Box().value
class Base:
    def shared(self):
        return {shared}
class Own(Base):
    {docstring}
    width = {width}
    def sample(self, index, scale={default}):
        {docstring}
        inner = half(3) + BY_NAME["a"](1) + CHAIN[0](2) + BOX.value() + bound()
        return helper(index) * GAIN + TABLE.sum() + {body} + inner
    @property
    def many(self):
        return {many}
    @functools.cached_property
    def kept(self):
        return index in {{'one', 'two', 'three', 'four', 'five'}}
"""
PLAIN = {
    "gain": "2", "table": "3", "helper": "2", "shared": "1", "width": "4", "default": "1", "body": "[i for i in (1,)]",
    "many": "4",
    "partial": "2", "in_a_dictionary": "3", "in_a_list": "4", "attribute": "5", "method": "6",
    "docstring": "'''Text.'''",
}  # fmt: skip
CHANGES = [{key: "7"} for key in PLAIN if key != "docstring"]


@pytest.mark.slow
def test_a_notebook_s_globals_helpers_constants_and_defaults_count():
    """Classes without a file, all in one process; the hash seed of another process changes nothing."""
    sources = [NOTEBOOK.format(**PLAIN | each) for each in ({}, {"docstring": "'''Other.'''"}, *CHANGES)]
    program = textwrap.dedent(
        f"""
        from lopsided.core import code, own_files
        from lopsided.core.live_code import LiveCode
        for text in {sources!r}:
            names = dict(__name__="somewhere")
            exec(text, names)
            live = LiveCode(own_files.file_of, code._is_own)
            live.take("part", names["Own"])
            print(live.digest())
        """
    )
    plain, documented, *changed = in_a_process(program, ".")
    assert plain == documented
    assert len({plain, *changed}) == 1 + len(CHANGES)
    assert in_a_process(program, ".", hash_seed="1")[0] == plain


def test_a_part_of_a_notebook_has_a_digest_with_what_it_takes_from_files():
    names = {"__name__": "somewhere"}
    exec(
        "from typing import Literal\n"
        "from lopsided.core.registry import registered\n"
        "class Own(registered('task')['sparse-parity']):\n    name: Literal['own'] = 'own'\n",
        names,
    )
    task = names["Own"](d=8, k=2)
    assert own_files.file_of(names["Own"]) is None
    assert code.parts_digest(task) == code.parts_digest(task)
    assert code.parts_digest(task) != code.parts_digest(SPEC.task)
