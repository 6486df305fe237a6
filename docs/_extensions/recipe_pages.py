"""A page for every recipe, its table alone (for other pages to include), and one page of all verdicts, written before
each build from two sources: the recipes themselves, and `results.json`, which `lopsided check --json` printed. No
number on these pages is typed by hand."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

from verdict_picture import forests, picture

from lopsided.claims.counts import counts as counted
from lopsided.core.flat import flat as settings_by_path
from lopsided.core.registry import registered
from lopsided.report.neighbour_curve import curve
from lopsided.report.words import (
    claim_rows,
    counts_text,
    how_decided,
    neighbour_seeds,
    paper_text,
    settings_text,
    would_decide,
)
from lopsided.stats.families import holm, q_values, shared
from lopsided.stats.verdict import DECIDED, Claim
from lopsided.study.catalog import COSTS

DOCS = Path(__file__).parents[1]
RESULTS = DOCS / "results.json"
AT_PAPER_SCALE = DOCS / "paper-results.json"
COUNTED: dict[str, Any] = json.loads(COSTS.read_text(encoding="utf-8"))
MOST_DIFFERENCES = 12
ORDER = (*DECIDED, "inconclusive", "not run")
COLUMNS = "| claim | measured, interval | verdict | the paper |\n|---|---|---|---|"


def waits_for() -> dict[tuple[str, str], str]:
    """What would decide each claim that is open, by recipe and claim."""
    each = json.loads(RESULTS.read_text(encoding="utf-8"))["claims"]
    return {(c["recipe"], c["claim"]): would_decide(Claim.of_json(c), c.get("seeds_needed")) for c in each}


def results(file: Path = RESULTS) -> tuple[dict[str, list[Claim]], dict[str, dict[str, Any]]]:
    """Claims by recipe, and what made their rows."""
    data = json.loads(file.read_text(encoding="utf-8"))
    claims: dict[str, list[Claim]] = {}
    for each in data["claims"]:
        claims.setdefault(each["recipe"], []).append(Claim.of_json(each))
    return claims, data["runs"]


def write(folder: Path = DOCS) -> None:
    """All pages."""
    claims, runs = results()
    pages, rows = folder / "recipes", folder / "rows"
    for each in (pages, rows):
        each.mkdir(exist_ok=True)
        for old in each.glob("*.md"):
            if old.stem not in registered("recipe") and old.stem not in ("index", "paper-costs", "paper-results"):
                old.unlink()
    for name, recipe in registered("recipe").items():
        _update(pages / f"{name}.md", page(recipe, claims.get(name, []), runs.get(name)))
        found, run = claims.get(name, []), runs.get(name)
        _update(rows / f"{name}.md", f"{source(run) if run else 'Not run yet.'}\n\n{table(found)}\n")
    _update(rows / "paper-costs.md", costs())
    _update(rows / "paper-results.md", at_paper_scale())
    _update(pages / "index.md", index(claims))
    _update(folder / "verdicts.md", matrix(claims, runs))


def page(recipe: Any, claims: list[Claim], run: dict[str, Any] | None) -> str:
    """Question, source, what it does, verdicts, figure, cost and settings of one recipe."""
    head, _, about = (recipe.about or "").strip().partition("\n")
    figure = DOCS / "figures" / f"{recipe.name}.png"
    parts = [
        f"# {recipe.name}",
        f"**{recipe.question}**",
        f"*{head.partition(': ')[2]}*",
        f"Paper {recipe.paper}, figure {recipe.figure_number}.",
        _escaped(re.sub(r"    lopsided run .*\n\n", "", about)),
        f"```bash\nlopsided run {recipe.name}\n```",
        "## Verdicts",
        verdicts(recipe, claims, run),
        around(claims),
        f"## Figure\n\n![{recipe.question}](../figures/{recipe.name}.png)" if figure.exists() else "",
        "## What it costs",
        "| scale | seeds per arm | time |\n|---|---|---|",
        "\n".join(f"| {s} | {c.seeds} | {_cost(recipe.name, s, c)} |" for s, c in recipe.scales.items()),
        "## Settings",
        *(settings(recipe, scale) for scale in recipe.scales if scale != "smoke"),
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part).replace("|\n\n|", "|\n|") + "\n"


def verdicts(recipe: Any, claims: list[Claim], run: dict[str, Any] | None) -> str:
    if run is None:
        waiting = [s.not_run(recipe.name, "laptop") for s in recipe.claims]
        said = "\n".join(f"- {claim.claim} (the paper: {paper_text(claim)})" for claim in waiting)
        return f"`docs/results.json` has no run of this recipe yet. It claims:\n\n{said}"
    apart = settings_text(claims, MOST_DIFFERENCES)
    where = f"Against the paper: {_safe((apart,))[0]} (`lopsided diff {recipe.name}`)." if apart else ""
    return "\n\n".join(filter(None, [source(run), table(claims), where, *counts_text(counted(claims)), tests(claims)]))


def around(claims: list[Claim]) -> str:
    """What neighbouring settings say of each claim; empty where none were tried."""
    curves = [drawn for claim in claims if (drawn := curve(claim))]
    if not curves:
        return ""
    seeds = neighbour_seeds(claims)
    return "\n\n".join(
        [
            "## At neighbouring settings",
            "Settings that no claim should depend on, changed [as a key says](../deciding.md#neighbours), "
            f"{seeds} seeds each. Effects with intervals, sorted; dark dots say what was changed.",
            *curves,
        ]
    )


def source(run: dict[str, Any]) -> str:
    """What made the rows."""
    made = run["made"][-1] if run["made"] else {}
    software = made.get("software", {})
    version = f"commit `{software['commit']}`" if "commit" in software else f"lopsided {software.get('lopsided', '?')}"
    return (
        f"Scale `{run['scale']}`, {run['seeds']} seeds an arm; {version}, {made.get('last', '?')[:10]}, "
        f"{made.get('device', '?')}, {made.get('machine', '?')}."
    )


def tests(claims: list[Claim]) -> str:
    """How every verdict came about, folded away."""
    lines = []
    for claim, adjusted in zip(claims, holm(claims), strict=True):
        said = [
            how_decided(claim),
            f"p = {adjusted:.2g} among this recipe's claims (Holm)" if adjusted is not None else "",
        ]
        said += [f"replicates the paper's number: {claim.replicates}" if claim.replicates else "", claim.history]
        said += [f"near-trivial: {claim.near_trivial}" if claim.near_trivial else ""]
        (line,) = _safe((f"{claim.claim}: {'; '.join(filter(None, said))}.",))
        lines.append(f"- {line}")
    return "<details><summary>How each was decided</summary>\n\n" + "\n".join(lines) + "\n\n</details>"


def table(claims: list[Claim]) -> str:
    rows = [
        f"| {text} | {effect} | {_tag(verdict)} | {paper} |"
        for text, effect, verdict, paper in map(_safe, claim_rows(claims))
    ]
    return "\n".join([COLUMNS, *rows])


def settings(recipe: Any, scale: str) -> str:
    """Arms by their coordinates, and what all their specs have in common."""
    arms = recipe.arms_at(scale).values()
    coordinates: dict[str, list[Any]] = {}
    for arm in arms:
        for key, value in arm.coordinates.items():
            coordinates.setdefault(key, [])
            if value not in coordinates[key]:
                coordinates[key].append(value)
    swept = {key for arm in arms for key in arm.swept}
    rows = [f"| {key}{' (swept)' if key in swept else ''} | {_values(values)} |" for key, values in coordinates.items()]
    flat = [settings_by_path(arm.spec.model_dump(mode="json")) for arm in arms]
    common = {k: v for k, v in flat[0].items() if v is not None and all(k in f and f[k] == v for f in flat[1:])}
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in common.items())
    return (
        f"<details><summary>{scale}: {len(arms):,} arms</summary>\n\n| coordinate | values |\n|---|---|\n"
        + "\n".join(rows)
        + f"\n\nWhat all arms have in common:\n\n```text\n{lines}\n```\n\n</details>"
    )


def index(claims: dict[str, list[Claim]]) -> str:
    """The list of recipes, by paper."""
    recipes = registered("recipe").values()
    text = [
        "# Recipes",
        "Each recipe reproduces one figure or theorem: `lopsided run NAME`. In brackets: claims that hold, are "
        "contradicted, are of a negligible difference, are undecided.",
    ]
    for paper in sorted({r.paper for r in recipes}):
        text.append(f"## {paper}")
        rows = [
            f"- [{r.name}]({r.name}.md): {r.question} {_counts(claims.get(r.name, []))}"
            for r in recipes
            if r.paper == paper
        ]
        text.append("\n".join(rows))
    names = "\n".join(sorted(registered("recipe")))
    return "\n\n".join(text) + f"\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def matrix(claims: dict[str, list[Claim]], runs: dict[str, Any]) -> str:
    """Every claim with its verdict."""
    every = [c for many in claims.values() for c in many]
    counts, open_claims = Counter(c.verdict for c in every), waits_for()
    tested = sum(counts[v] for v in ORDER[:-1])
    text = [
        "# What held, what did not",
        picture(claims),
        f"{tested} claims of {len(runs)} recipes were tested at `laptop` scale, on settings smaller than the papers'. "
        + " ".join(f"**{line}**" for line in counts_text(counted(every))[:2])
        + " "
        + " ".join(counts_text(counted(every))[2:])
        + " A negligible difference, if there is any, is one below 25 %, or below what the claim names. "
        f"{counts['not run']} more wait for their run. The pages on [frequency](frequency.md), "
        "[strength](strength.md) and repetition ([perceptrons](repetition.md), "
        "[transformers](repetition-transformers.md)) say what we make of them.",
        "Every row was printed by `lopsided check --json` from stored rows: an effect with its interval (of 95 %, "
        "of 90 % where an equivalence is tested, of more where seeds were added look by look), decided by the test "
        "that the recipe names. A verdict is about the sizes that were run.",
        _together(every),
        "The same claims as effects, where they are ratios (below 1: the other way round); point at a line to read it.",
        forests(_by_paper(claims)),
    ]
    for verdict in ORDER[:-1]:
        chosen = [c for c in every if c.verdict == verdict]
        wanted = verdict == "inconclusive"
        text.append(f"## {verdict.capitalize()} ({len(chosen)})")
        rows = [
            f"| [{c.recipe}](recipes/{c.recipe}.md) | {claim} | {effect} | {paper} |"
            + (f" {open_claims[c.recipe, c.claim]} |" if wanted else "")
            for c, (claim, effect, _, paper) in zip(chosen, map(_safe, claim_rows(chosen)), strict=True)
        ]
        heads = ["recipe", "claim", "measured, interval", "the paper", *(["would decide it"] if wanted else [])]
        text.append("\n".join([f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", *rows]))
    waiting = sorted({c.recipe for c in every if c.verdict == "not run"})
    if waiting:
        text.append(f"## Not run yet ({counts['not run']})\n\n" + ", ".join(f"[{n}](recipes/{n}.md)" for n in waiting))
    return "\n\n".join(text) + "\n"


def _by_paper(claims: dict[str, list[Claim]]) -> dict[str, list[Claim]]:
    """Claims by the paper that their recipe is about, those of one paper alone."""
    found: dict[str, list[Claim]] = {}
    for name, recipe in registered("recipe").items():
        if ": " in recipe.paper:
            found.setdefault(recipe.paper, []).extend(claims.get(name, ()))
    return dict(sorted(found.items()))


def _together(every: list[Claim]) -> str:
    """What so many claims mean together."""
    tested = [c for c in every if c.verdict != "not run"]
    q = [value for value, c in zip(q_values(tested), tested, strict=True) if c.verdict in DECIDED]
    known, once = [value for value in q if value is not None], shared(tested)
    open_ones = sum(group[0].verdict == "inconclusive" for group in once)
    return (
        f"Equal comparisons of several recipes counted once, these are {len(once)} comparisons, of which {open_ones} "
        f"({100 * open_ones / len(once):.0f} %) are inconclusive. If no "
        f"effect were real, up to {0.05 * len(tested):.0f} verdicts would be expected by chance. Of {len(q)} decided "
        f"claims {len(known)} have a p-value in the file, {sum(v <= 0.05 for v in known)} of them with q ≤ .05 (the "
        "share of chance findings among claims with a p-value as small)."
    )


def _counts(claims: list[Claim]) -> str:
    counts = Counter(c.verdict for c in claims)
    if not claims or counts["not run"] == len(claims):
        return "(not run yet)"
    return f"({', '.join(str(counts[verdict]) for verdict in ORDER[:-1])})"


def _tag(verdict: str) -> str:
    return f"**{verdict}**" if verdict in DECIDED else verdict


def _escaped(text: str) -> str:
    """Prose without markup of ours, but for what stands in backticks."""
    return "`".join(part if i % 2 else re.sub(r"([*_$])", r"\\\1", part) for i, part in enumerate(text.split("`")))


def _safe(row: tuple[str, ...]) -> tuple[str, ...]:
    """Text in a cell: no bars, no markup of ours."""
    return tuple(text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("$", "\\$") for text in row)


def _values(values: list[Any]) -> str:
    shown = [v if isinstance(v, str) else f"{v:,}" if isinstance(v, int) else f"{v:.4g}" for v in values]
    return ", ".join(shown if len(shown) <= 24 else [*shown[:4], f"… {len(shown)} values …", *shown[-2:]])


def _cost(name: str, scale: str, cost: Any) -> str:
    """Measured, or counted by `lopsided cost`."""
    if math.isfinite(cost.seconds):
        return f"{_time(cost.seconds)}, {cost.on}"
    counted = COUNTED.get(name) if scale == "paper" else None
    return f"{_hours(counted)} of one H100 (`lopsided cost {name}`)" if counted else f"see `lopsided cost {name}`"


def _hours(counted: dict[str, Any]) -> str:
    more = " and more: gradient flow adapts its steps" if counted["adaptive"] else ""
    return f"{_time(3600 * counted['h100_hours'])}{more}"


def costs() -> str:
    """What recipes cost at paper scale."""
    head = "| recipe | members | samples | operations | memory of the largest member | rows | one H100 |\n|---|"
    rows = [
        f"| [{name}](recipes/{name}.md) | {c['members']:,} | {c['samples']:.2g} | {c['operations']:.2g} | "
        f"{c['memory'] / 1e6:,.1f} MB | {c['storage'] / 1e6:,.1f} MB | {_hours(c)} |"
        for name, c in sorted(COUNTED.items(), key=lambda item: -item[1]["h100_hours"])
    ]
    return "\n".join([head + "---:|" * 6, *rows]) + "\n"


def at_paper_scale() -> str:
    """What was run at the papers' scale."""
    claims, runs = results(AT_PAPER_SCALE)
    parts = [f"**{name}.** {source(run)}\n\n{table(claims[name])}" for name, run in runs.items()]
    return "\n\n".join(parts) + "\n"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:,.0f} h" if seconds < 1e6 else f"{seconds / 86400:,.0f} days"


def _update(path: Path, text: str) -> None:
    """Only where something changed: Sphinx builds what is newer."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", lambda app: write(Path(app.srcdir)))
    return {"parallel_read_safe": True}
