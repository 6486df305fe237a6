"""The spec field by field, written before each build from the classes themselves."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

from recipe_pages import _escaped, _update

from lopsided.core.evaluation import Evaluation, Geometric, Until
from lopsided.core.groups import ParamGroup
from lopsided.core.registry import PARTS, registered
from lopsided.core.spec import Spec
from lopsided.core.training_set import TrainingSet

TITLES = {
    "task": ("Tasks", "lop.tasks"),
    "skills": ("Skill distributions", "lop.skills"),
    "model": ("Models", "lop.models"),
    "plan": ("Plans", "lop.plans"),
    "optimizer": ("Optimizers", "lop.optim"),
    "probe": ("Probes", "lop.probes"),
}


def page() -> str:
    text = [
        "# The spec, field by field",
        "Generated from the code. In Python every part is a class with keyword arguments; in JSON it is an object with "
        "its `name`. *Traced* fields are numbers that members of one compiled ensemble may differ in. "
        "`lop.Spec.model_json_schema()` is the same as JSON schema.",
        "## Spec",
        fields(Spec),
    ]
    for kind in PARTS:
        title, module = TITLES[kind]
        text.append(f"## {title}")
        for name, cls in registered(kind).items():
            text += [f"### {name}", f"`{module}.{cls.__name__}`: {doc(cls)}", fields(cls)]
    text.append("## Other objects of a spec")
    for name, cls in (
        ("evaluation", Evaluation),
        ("evaluation with per_decade", Geometric),
        ("until", Until),
        ("groups", ParamGroup),
        ("training_set", TrainingSet),
    ):
        text += [f"### {name}", doc(cls), fields(cls)]
    return "\n\n".join(part for part in text if part) + "\n"


def doc(cls: type) -> str:
    return _escaped(inspect.getdoc(cls) or "")


def fields(cls: Any) -> str:
    schema = cls.model_json_schema()
    if "$ref" in schema:  # a law that holds laws
        schema |= schema["$defs"][schema["$ref"].rpartition("/")[2]]
    required = set(schema.get("required", ()))
    rows = []
    for name, field in cls.model_fields.items():
        if name == "name":
            continue
        said = schema["properties"][name]
        default = "required" if name in required else _default(field)
        traced = "yes" if any(type(m).__name__ == "_TracedMark" for m in field.metadata) else ""
        rows.append(f"| `{name}` | {_values(said, schema)} | {default} | {traced} |")
    return "\n".join(["| field | values | default | traced |\n|---|---|---|---|", *rows]) if rows else ""


def _default(field: Any) -> str:
    value = field.get_default(call_default_factory=True)
    if hasattr(value, "model_dump"):
        name = getattr(value, "name", None)
        value = name or value.model_dump(mode="json", exclude_defaults=True)
    return f"`{json.dumps(value, default=str, ensure_ascii=False)}`"


def _values(said: dict[str, Any], schema: dict[str, Any]) -> str:
    """A field's JSON schema in words."""
    if "anyOf" in said or "oneOf" in said:
        options = [_values(option, schema) for option in said.get("anyOf") or said["oneOf"]]
        options = list(dict.fromkeys(options))
        if len(options) > 1 and any("`" in option for option in options):
            options = [option for option in options if option != "an object"]
        return " or ".join(options if len(options) < 6 else [*options[:2], "..."])
    if "$ref" in said:
        name = said["$ref"].rpartition("/")[2]
        inner = schema.get("$defs", {}).get(name, {})
        const = inner.get("properties", {}).get("name", {}).get("const")
        return f"`{const}`" if const else "an object, below"
    if "enum" in said:
        return ", ".join(f"`{v}`" for v in said["enum"])
    if "const" in said:
        return f"`{said['const']}`"
    kind = said.get("type", "any")
    if kind == "array":
        return f"list of {_values(said.get('items', {}), schema)}"
    words = {"integer": "integer", "number": "number", "boolean": "`true`, `false`", "string": "text", "null": "`null`"}
    bounds = [
        f"{sign} {said[key]:,g}" if isinstance(said[key], float) else f"{sign} {said[key]:,}"
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<"))
        if key in said
    ]
    return " ".join([words.get(kind, "an object"), ", ".join(bounds)]).strip()


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", lambda app: _update(Path(app.srcdir) / "spec.md", page()))
    return {"parallel_read_safe": True}
