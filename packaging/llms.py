"""Writes llms.txt, the public API as one file for people who program with assistants: `python packaging/llms.py`."""

import importlib
import inspect
from pathlib import Path

HEAD = """# lopsided

> How lopsided should training data be? Trains one network on differently shaped data, over many seeds, and says with
> statistics which shape learns first. `import lopsided as lop` (all: `pip install ".[lab]"`), `import lopsided.data as
> ld` (NumPy and SciPy alone: shapes for anybody's training loop, verdicts on anybody's logs).

- An arm is one `lop.Spec`: task, model, plan, optimizer, loss, steps, evaluation. Every seed of an arm is a member.
- `lop.run({"name": spec, ...}, seeds=16)` trains what is missing in the folder lopsided-runs and returns results.
- `results.compare(baseline=..., candidate=...).faster(at=0.95)` is a verdict: holds, contradicted, negligible or
  inconclusive.
- A stream is read in order: item n of the run is example `stream.at(n)`; the whole state is one integer.
- Wrong input raises `lop.InputError`, one line that says what is valid.

Pages: [quickstart](docs/quickstart.md), [words](docs/concepts.md), [own data](docs/your-data.md),
[packing and streaming](docs/streaming.md), [data without labels](docs/skills.md), [own logs](docs/comparing.md),
[which shape](docs/advice.md), [how claims are decided](docs/deciding.md), [write a task or recipe](docs/extending.md),
[tables](docs/tables.md).
"""
MODULES = {
    "lopsided": "lop",
    "lopsided.data": "ld",
    "lopsided.recipe": "what a recipe file imports",
    "lopsided.part": "what a file with a task, model, plan or probe imports",
}


def text() -> str:
    """The file's text."""
    parts = [HEAD]
    for name, said in MODULES.items():
        module = importlib.import_module(name)
        parts.append(f"\n## {name} ({said})\n")
        for each in sorted(module.__all__):
            line = _line(each, getattr(module, each))
            parts.append(line)
    return "\n".join(parts) + "\n"


def _line(name: str, found: object) -> str:
    if inspect.ismodule(found):
        return f"- `{name}`: module; " + ", ".join(sorted(n for n in vars(found) if n[0].isupper()))
    if not callable(found):
        return f"- `{name}`"
    try:
        signature = str(inspect.signature(found)) if not inspect.isclass(found) else _of_class(found)
    except (TypeError, ValueError):
        signature = ""
    first = (inspect.getdoc(found) or "").split("\n\n")[0].replace("\n", " ")
    return f"- `{name}{signature}`: {first}"


def _of_class(found: type) -> str:
    fields = getattr(found, "model_fields", None)
    if fields is not None:
        return f"({', '.join(fields)})"
    names = [p.name for p in inspect.signature(found).parameters.values()]
    return f"({', '.join(names)})"


if __name__ == "__main__":
    Path(__file__).parents[1].joinpath("llms.txt").write_text(text())
