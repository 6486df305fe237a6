"""Random commands: mutated specs, options, recipe files, queries and folders. Each must end with exit code 0 or 2 and
without an exception that nobody expected.

    python -m tests.faults.fuzz 10000 [SEED]

Nothing trains: a run that is valid ends where training would begin. The command in hand is in fuzz-last.txt, so that
one that takes the process with it is known, and those that raise the peak of memory are said.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from lopsided import cli
from lopsided.core.errors import InputError
from lopsided.core.registry import registered
from lopsided.study import recipe_run
from tests.faults.fuzz_tables import Tables

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2, 7, 1e308, -1e308, 5e-324, 10**30, 10**400, float("nan"), float("inf"), 0.5, "", " ",
    "²", "NaN", "a" * 300, "[/x]", ":x:", "../..", "\x00", "\ud800", "ü", [], {}, [[]], [0], {"name": "online"},
    {"name": "mlp"}, {"name": 3}, {"": 1}, [None], "power-law", "adamw", "transformer", "online", "population",
]  # fmt: skip
RECIPES = [
    "", "raise ValueError('[/x]')", "import sys; sys.exit(0)", "import sys; sys.exit('bye')", "1 +", "\x00",
    "raise KeyboardInterrupt", "class A: pass", "from lopsided.recipe import Recipe\nrecipe = Recipe(name='a')",
    "recipe = 3", *(
        "from dataclasses import replace\nfrom lopsided.recipes.adam import recipe as adam\n"
        f"recipe = replace(adam, {change})" for change in (
            "name='../../x'", "name=3", "name=None", "name='a', arms=lambda scale: {}", "arms=lambda scale: 1 / 0",
            "arms=lambda scale: [('[/x]', 3)]", "arms=None", "scales={}", "scales={'smoke': ()}", "scales=3",
            "scales={'smoke': ('a', 'b')}", "claims=None", "claims=[3]", "figure=None", "metric='nothing'",
            "arms=lambda scale: list(adam.arms(scale))[:1]", "measure=lambda r: 1 / 0", "threshold='a'",
        )
    ),
    "def f(): f()\nf()", "import nothing_of_that_name", "# -*- coding: nonsense -*-", "x = '" + "(" * 300,
]  # fmt: skip
SQL = [
    "SELECT", "*", "FROM", "rows", "members", "arms", "JOIN", "USING (spec)", "WHERE", "count(*)", "1", "'x'", "/ 0",
    ";", "range(1000000000)", "GROUP BY 1", "ORDER BY", "COPY", "TO 'x'", "read_csv('/etc/passwd')", "ATTACH", "'[/x]'",
    "AS", '"[/x]"', "nan", "'nan'::float", "'infinity'::double", "null", "[1, 2]", "{'a': 1}", "now()",
    "INSTALL httpfs", "PRAGMA", "CALL", "SET", "--", "/*", "\x00", "ü", "(", ")", ",", "value", "settings",
    "coordinates->>'$.x'", "UNION", "x'00'",
    "INTERVAL 1 DAY", "uuid()", "1e400", "getenv('HOME')", "glob('*')", "sniff_csv('x')", "LIMIT -1", "VALUES",
]  # fmt: skip
TABLES = ["compare", "skills", "advise", "others"]
"""Kinds of commands that `Tables` makes."""


GROWN = 100_000
"""Kilobytes by which a command has to raise the peak of memory to be said."""


class Valid(InputError):
    """Raised where training would begin."""


class Wrong(NamedTuple):
    """A command that did not end as promised."""

    arguments: list[str]
    code: Any
    error: str


class Fuzzer:
    """Makes and runs commands in a folder of its own; the same seed makes the same ones."""

    def __init__(self, seed: int, folder: Path, store: Path):
        self.random = random.Random(seed)
        self.folder, self.store = folder, store
        self.names = sorted(registered("recipe"))
        self.specs: dict[str, dict[str, Any]] = {}
        self.broken = folder / "broken"
        self.tables = Tables(self.random, folder, self._odd_text, self._mutated)

    def command(self) -> list[str]:
        """One command with its files written."""
        kinds = ["spec", "spec", "spec text", "set", "set", "plain", "recipe", "query", "query", "folder"]
        kind = self.random.choice([*kinds, *TABLES])
        return getattr(self.tables, kind)() if kind in TABLES else getattr(self, "_" + kind.replace(" ", "_"))()

    def _spec(self) -> list[str]:
        return self._run_file("mine.json", json.dumps(self._mutated(self._some_spec())).encode("utf-8", "replace"))

    def _spec_text(self) -> list[str]:
        text = bytearray(json.dumps(self._some_spec()).encode())
        for _ in range(self.random.randrange(1, 4)):
            at = self.random.randrange(len(text))
            text[at : at + self.random.randrange(6)] = self.random.choice(
                [b"", b"\0", b"\xff", b"{", b"[" * 5000, b'"', b"9" * 5000, b"Infinity", b"\xef\xbb\xbf", b"1e9", b"}]"]
            )
        return self._run_file(self.random.choice(["mine.json", "ü.json", "a b.json", "[x].json"]), bytes(text))

    def _run_file(self, name: str, content: bytes) -> list[str]:
        file = self.folder / name
        file.write_bytes(content)
        return ["run", str(file), *self._options()]

    def _set(self) -> list[str]:
        name = self.random.choice(self.names)
        spec = self._some_spec(name)
        changes = []
        for _ in range(self.random.randrange(1, 4)):
            path = ".".join(map(str, self._path(spec)))
            if self.random.random() < 0.2:
                path += self.random.choice([".", ".x", "²", ".0", ".-1", "=", " ", "..", "\x00"])
            text = self.random.choice([json.dumps, str, repr])(copy.deepcopy(self.random.choice(ODD)))
            changes.append(f"{path}{self.random.choice(['=', '=', '=', ''])}{text}")
        return ["run", name, "--scale", "smoke", "--set", *changes, *self._options()]

    def _options(self) -> list[str]:
        choice = [
            [], [], ["--seeds", self._odd_text()], ["--scale", self._odd_text()], ["--json"], ["--set"], ["--set", ""],
            ["--out", self._odd_text()], ["--" + self._odd_text()], [self._odd_text()], ["--seeds"], ["--out"], ["-"],
        ]  # fmt: skip
        return [text for _ in range(self.random.randrange(3)) for text in self.random.choice(choice)]

    def _recipe(self) -> list[str]:
        file = self.folder / self.random.choice(["mine.py", "ü.py", "a b.py", "json.py"])
        file.write_bytes(self.random.choice(RECIPES).encode())
        return ["run", str(file), "--scale", "smoke", *self._options()]

    def _query(self) -> list[str]:
        words = self.random.choices(SQL, k=self.random.randrange(0, 9))
        start = self.random.choice([["SELECT"], ["SELECT", "*", "FROM"], []])
        return ["query", " ".join([*start, *words]), "--out", str(self.store), *self.random.choice([[], ["--json"]])]

    def _folder(self) -> list[str]:
        """A store with one file altered, and a command that only reads."""
        shutil.rmtree(self.broken, ignore_errors=True)
        shutil.copytree(self.store, self.broken)
        files = [f for f in sorted(self.broken.rglob("*")) if f.is_file()]
        for file in self.random.sample(files, min(len(files), self.random.randrange(1, 3))):
            self._harm(file)
        out = str(self.broken)
        commands = [["status", out], ["check", "--out", out], ["query", "SELECT * FROM rows LIMIT 3", "--out", out]]
        return [*self.random.choice([*commands, ["compact", out]]), *self.random.choice([[], ["--json"]])]

    def _harm(self, file: Path) -> None:
        data = bytearray(file.read_bytes())
        kind = self.random.randrange(6)
        if kind == 0:
            file.unlink()
        elif kind == 1:
            file.write_bytes(data[: self.random.randrange(len(data) + 1)])
        elif kind == 2 and file.suffix == ".json":
            with contextlib.suppress(ValueError):
                file.write_text(json.dumps(self._mutated(json.loads(data))))
        elif kind == 3:
            file.write_bytes(self.random.choice([b"", b"[]", b"{}", b"null", b"\xff", b"[" * 100_000, b"{" + data]))
        elif kind == 4:
            file.rename(file.with_name(file.name + self.random.choice([" (copy)", "~", ".json", "²"])))
        elif data:
            data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
            file.write_bytes(data)

    def _plain(self) -> list[str]:
        return [self.random.choice(["run", "report", "check", "query", "status", "list", "doctor"]), *self._options()]

    def _some_spec(self, name: str | None = None) -> dict[str, Any]:
        name = name or self.random.choice(self.names)
        if name not in self.specs:
            recipe: Any = registered("recipe")[name]
            self.specs[name] = next(iter(recipe.specs("smoke").values())).model_dump(mode="json")
        return json.loads(json.dumps(self.specs[name]))

    def _path(self, value: Any) -> list[str | int]:
        """A random way into nested JSON."""
        path: list[str | int] = []
        while isinstance(value, (dict, list)) and value and (not path or self.random.random() < 0.8):
            key = self.random.choice(list(value) if isinstance(value, dict) else range(len(value)))
            path.append(key)
            value = value[key]
        return path

    def _mutated(self, value: Any) -> Any:
        """JSON with one to three values replaced, removed or added."""
        for _ in range(self.random.randrange(1, 4)):
            path = self._path(value)
            if not path:
                return copy.deepcopy(self.random.choice(ODD))
            inner = value
            for key in path[:-1]:
                inner = inner[key]
            kind = self.random.randrange(5)
            if kind == 0 and isinstance(inner, dict):
                del inner[path[-1]]
            elif kind == 1 and isinstance(inner, dict):
                inner[self._odd_text()] = copy.deepcopy(self.random.choice(ODD))
            elif kind == 2 and isinstance(inner[path[-1]], (int, float)):
                with contextlib.suppress(OverflowError):
                    inner[path[-1]] *= self.random.choice([-1, 0, 0.5, 2, 1000, 10**12, 1e300])
            else:
                inner[path[-1]] = copy.deepcopy(self.random.choice(ODD))
        return value

    def _odd_text(self) -> str:
        return str(copy.deepcopy(self.random.choice(ODD)))

    def run(self, arguments: list[str]) -> Wrong | None:
        """Run one command in this process; None if it ended as promised."""
        out, err = io.StringIO(), io.StringIO()
        code: Any = 0
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                cli.main(arguments)
        except SystemExit as ended:
            code = ended.code or 0
        except BaseException:
            return Wrong(arguments, None, traceback.format_exc())
        if code not in (0, 2, 130) or (code == 130 and "KeyboardInterrupt" not in str(arguments)):
            interrupted = any(a.endswith(".py") and "KeyboardInterrupt" in _text(a) for a in arguments)
            if not (code == 130 and interrupted):
                return Wrong(arguments, code, err.getvalue())
        if "Traceback" in err.getvalue() or "Traceback" in out.getvalue():
            return Wrong(arguments, code, err.getvalue())
        if code == 2 and not err.getvalue().strip():
            return Wrong(arguments, code, "says nothing")
        if code == 0 and "--json" in arguments and arguments[0] in ("query", "status", "check", "compact"):
            try:
                json.loads(out.getvalue(), parse_constant=_refuse)
            except ValueError:
                return Wrong(arguments, code, f"no JSON: {out.getvalue()[:200]}")
        return None


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _text(file: str) -> str:
    try:
        return Path(file).read_text(errors="replace")
    except (OSError, ValueError):
        return ""


def _valid(*_: Any, **__: Any) -> Any:
    raise Valid("valid; training would begin here")


def attack(number: int, seed: int, store: Path, last: Path | None = None) -> list[Wrong]:
    """Run so many commands; those that did not end as promised. `last`: a file for the command in hand."""
    before, recipe_run.RecipeRun.train = recipe_run.RecipeRun.train, _valid
    here = os.getcwd()
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            fuzzer = Fuzzer(seed, Path(folder), store)
            return [wrong for i in range(number) if (wrong := _watched(fuzzer, i, last)) is not None]
    finally:
        os.chdir(here)
        recipe_run.RecipeRun.train = before


def _watched(fuzzer: Fuzzer, i: int, last: Path | None) -> Wrong | None:
    """Run one more command. With `last` it is noted there first, and what is wrong, or raised the peak of memory, is
    said at once."""
    command, before = fuzzer.command(), _peak()
    if last is not None:
        last.write_text(f"{i} {command!r}")
    wrong = fuzzer.run(command)
    if last is not None and wrong is not None:  # at once: hours of commands may not come to their end
        print(f"command {i}: {wrong.arguments!r}: {wrong.code}: {wrong.error[-600:]}", flush=True)
    if last is not None and _peak() - before > GROWN:
        print(f"command {i}: peak from {before:,} to {_peak():,} kB: {command!r}", flush=True)
    return wrong


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def small_store(folder: Path) -> Path:
    """A store with two finished smoke runs."""
    for name in ("dense-parity", "norm-growth"):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            cli.main(["run", name, "--scale", "smoke", "--out", str(folder)])
    return folder


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as made:
        found = attack(count, first, small_store(Path(made) / "store"), Path("fuzz-last.txt").absolute())
    print(f"{count} commands, {len(found)} did not end as promised")
