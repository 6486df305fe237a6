"""Sentences about claims, made from their fields. Everything that is said of a claim anywhere is said here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lopsided.claims.counts import Counts
from lopsided.report.text import number
from lopsided.stats.verdict import COARSE, DECIDED, Claim, Difference

MANY = 1000
"""Seeds beyond which another setting is wanted, not more seeds."""
MOST_DIFFERENCES = 6
"""Differences from the paper that a line has room for."""
SHOWN = {
    "steps": "steps",
    "plan.batch": "batch",
    "optimizer.lr": "rate",
    "skills.alpha": "exponent",
    "plan.name": "plan",
}
"""Fields by the words that people use for them; others by the last part of their path."""


UNKNOWN = {"ends": "runs end at different places", "diverged": "a run diverged or failed, and has no last value"}
"""By reason, why an effect has no size."""


def measure(claim: Claim) -> str:
    """What the effect is: `within-seed ratio of compute to learn`."""
    return f"{claim.estimand} {claim.unit}"


def effect_text(claim: Claim) -> str:
    """`12.1 [8.0, 16.4] ratio of median compute to learn`, or why the effect has no size."""
    if claim.verdict == "not run":
        return "–"
    if claim.effect is not None:
        return f"{size_text(claim)} {measure(claim)}"
    why = UNKNOWN.get(claim.reason) or ("too few members learned" if claim.ratio else "too few runs have it")
    return f"{size_text(claim)}: {why} ({measure(claim)})"


def size_text(claim: Claim) -> str:
    """`12.1 [8.0, 16.4]`; an unknown end of the interval is written as infinite, and the effect as a bound where the
    other end is known: `≥ 12.1 [8.0, ∞]`. An unknown effect is `unknown`, with the end that is known."""
    low, high = claim.interval
    open_below = low is None or (low == 0 and claim.ratio)
    if claim.effect is None:
        end = "" if low is None or open_below else f", above {number(low)}"
        return "unknown" + (end or ("" if high is None else f", below {number(high)}"))
    bound = {(False, True): "≥ ", (True, False): "≤ "}.get((open_below, high is None), "")
    text = f"[{number(low) if low is not None else '−∞'}, {number(high) if high is not None else '∞'}]"
    return f"{bound}{number(claim.effect)} {text}"


def paper_text(claim: Claim) -> str:
    """What the paper says and where, or that it is our claim."""
    if claim.source == "own":
        return ": ".join(filter(None, ["not in the paper", claim.paper]))
    return f"{claim.paper} ({claim.figure})" if claim.figure else claim.paper


def how_decided(claim: Claim) -> str:
    """How the claim was decided, in one line; empty for one that was not run."""
    if claim.verdict == "not run":
        return ""
    said = [_test(claim), _window(claim), _rivals(claim), _places(claim), _folds(claim), _look(claim)]
    said += [f"best at the end of its sweep: {', '.join(claim.at_edge)}" if claim.at_edge else ""]
    said += ["the runs were too short for a verdict against it" if _too_short(claim) else ""]
    said += [
        f"{claim.diverged} members of the arms and settings that it reads diverged (an accuracy counts as 0)"
        if claim.diverged
        else ""
    ]
    said += [neighbours_text(claim)]
    return "; ".join(filter(None, [*said, coarse_text(claim), versions_text(claim)]))


def coarse_text(claim: Claim) -> str:
    """Whether evaluations lie too far apart to know times well."""
    if claim.coarseness <= COARSE:
        return ""
    if claim.coarseness >= 1:
        return "an arm learned by its first evaluation: evaluate more often"
    return f"evaluations lie {claim.coarseness:.0%} of the time to learn apart: evaluate more often"


def _too_short(claim: Claim) -> bool:
    return claim.verdict == "inconclusive" and claim.reason == "budget" and claim.effect is not None


def neighbours_text(claim: Claim) -> str:
    """What neighbouring settings say; empty where none were tried."""
    found = claim.neighbours
    if found is None:
        return ""
    against = f", certainly on the other in {found.against}" if found.against else ""
    same = "the claim's side" if claim.as_said is None else "same side"
    alike = f"; {found.alike} more change nothing that it reads" if found.alike else ""
    alike += f"; {found.unfinished} are not complete" if found.unfinished else ""
    gone = sum(each.diverged > 0 for each in found.at)
    alike += f"; members diverged at {gone}" if gone else ""
    if not found.of:
        return f"no neighbouring setting is decided{alike}"
    said = f"{same} at {found.same} of {found.of} neighbouring settings, certain at {found.certain}"
    return f"{said}{against}{alike}"


def neighbour_seeds(claims: Sequence[Claim]) -> str:
    """How many seeds neighbouring settings have: `6`, or `6 to 9`."""
    each = {at.seeds for claim in claims if claim.neighbours for at in claim.neighbours.at}
    return " to ".join(str(seeds) for seeds in dict.fromkeys((min(each), max(each)))) if each else ""


def versions_text(claim: Claim) -> str:
    """Whether the rows come from several versions of the code."""
    return f"rows of {claim.code_versions} versions of the code" if claim.code_versions > 1 else ""


def _test(claim: Claim) -> str:
    p_values = " and ".join(f"{p:.3g}" for p in claim.p_values)
    test = f"{claim.method}: p = {p_values}" if p_values else claim.method
    if claim.equivalence:
        top, bottom = claim.bounds
        interval = f"{100 * claim.coverage:.3g} % interval"
        return f"{test}, two one-sided tests against {top:.3g} and {bottom:.3g}, {interval}"
    return f"{test}, {claim.side} {claim.bounds[0]:.3g}" if claim.side else test


def _window(claim: Claim) -> str:
    if claim.window is None:
        return ""
    ends = (f"{v:,.0f}" if v >= 100 else f"{v:.3g}" for v in (claim.window.begins, claim.window.ends))
    return f"power law from {' to '.join(ends)}, {claim.window.along}"


def _places(claim: Claim) -> str:
    if not claim.places:
        return ""
    each = ", ".join(f"{p:.3g} {place}" for place, p in claim.places)
    which = f"contradicted ({claim.contradicted_at}), which" if claim.contradicted_at else "the weakest"
    return f"at each place p = {each}; {which} is shown"


def _rivals(claim: Claim) -> str:
    if claim.rivals is None:
        return ""
    each = "at each of" if claim.rivals.agree else "but not at each of the"
    return f"{each} {claim.rivals.settings} settings of {' and '.join(map(repr, claim.rivals.of))}"


def _folds(claim: Claim) -> str:
    return "{} of {} choosing folds agree".format(*claim.folds_agree) if claim.folds_agree else ""


def _look(claim: Claim) -> str:
    if claim.look is None:
        return ""
    return f"look {claim.look.number} of {claim.look.of}, {claim.look.seeds} seeds, level {claim.look.level:.3g}"


def coverage_text(claims: Sequence[Claim]) -> str:
    """What intervals cover: 95 %, less where an equivalence is tested, as planned at a look; empty without any."""
    known = [claim.coverage for claim in claims if claim.effect is not None and claim.verdict != "not run"]
    if not known:
        return ""
    low, high = (f"{100 * each:.3g}" for each in (min(known), max(known)))
    whys = [
        "less where an equivalence is tested" if any(c.equivalence and c.coverage < 0.95 for c in claims) else "",
        "each look has its own" if any(claim.look for claim in claims) else "",
    ]
    why = "; ".join(filter(None, whys))
    return f"Intervals cover {low if low == high else f'{low} to {high}'} %{': ' if why else ''}{why}."


def claim_rows(claims: Sequence[Claim]) -> list[tuple[str, str, str, str]]:
    """(claim, effect with interval, verdict, the paper) as text."""
    return [(c.claim, _with_mark(c), c.verdict, paper_text(c)) for c in claims]


def _with_mark(claim: Claim) -> str:
    mark = "; ".join(filter(None, [coarse_text(claim), versions_text(claim), neighbours_text(claim)]))
    return f"{effect_text(claim)} ({mark})" if mark else effect_text(claim)


def would_decide(claim: Claim, seeds: int | None) -> str:
    """What an undecided claim waits for; nothing for others. `seeds` is how many an arm would probably do."""
    if claim.verdict != "inconclusive":
        return ""
    if claim.reason == "ties":
        return "a measure in which members differ"
    if claim.reason == "edge":
        return "a wider sweep"
    if claim.reason == "grid":
        return "evaluations closer together"
    if claim.reason == "ends":
        return "runs of one length"
    if claim.reason == "budget":
        return "longer runs"
    if claim.reason == "diverged":
        return "runs that do not diverge"
    if seeds is None and claim.reason == "rivals":
        return "more seeds that choose"  # fewer settings would be left that may be the best
    if seeds is None:
        return "more seeds"  # one condition of its test is met, another is not, and says no number
    said = f"~{seeds:,} seeds" if seeds <= MANY else f"> {MANY:,} seeds"
    over = claim.look is not None and claim.look.number == claim.look.of
    return f"{said} of a new plan, in another --out" if over else said


def setting_text(claim: Claim, most: int = MOST_DIFFERENCES) -> str:
    """How far the setting is from the paper's: `steps 1/50, width 1/4, group A5 for S5, loss as assumed`."""
    return settings_text([claim], most)


def settings_text(claims: Sequence[Claim], most: int = MOST_DIFFERENCES) -> str:
    """How far the settings of several claims of one recipe are from the paper's, taken together; steps first."""
    every = sorted((each for claim in claims for each in claim.setting), key=lambda each: each.field != "steps")
    said = list(dict.fromkeys(map(difference_text, every)))
    more = [f"{len(said) - most} more"] if len(said) > most else []
    assumed = dict.fromkeys(f"{_name(field)} as assumed" for claim in claims for field in claim.assumed)
    return ", ".join([*said[:most], *more, *assumed])


def difference_text(each: Difference) -> str:
    """`steps 1/50` for numbers, `group A5 for S5` for what is none."""
    name, ratio = _name(each.field), ratio_text(each)
    return f"{name} {ratio}" if ratio else f"{name} {value_text(each.here)} for {value_text(each.paper)}"


def ratio_text(each: Difference) -> str:
    """`1/50` or `x2` of two positive numbers; empty for anything else, and for numbers less than a factor 2 apart,
    which say more as they are."""
    pair = (each.here, each.paper)
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) or v <= 0 for v in pair):
        return ""
    ratio = each.here / each.paper
    if 0.5 < ratio < 2:
        return ""
    factor = max(ratio, 1 / ratio)
    said = f"{factor:.3g}" if factor < 1000 else f"{factor:,.0f}"
    return f"1/{said}" if ratio < 1 else f"x{said}"


def value_text(value: Any) -> str:
    """A setting's value; a dash where there is none."""
    if value is None:
        return "–"
    return number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _name(field: str) -> str:
    return SHOWN.get(field, next(part for part in reversed(field.split(".")) if not part.isdecimal()))


def counts_text(found: Counts) -> list[str]:
    """Sentences with the totals: the papers' claims and our own apart, and what qualifies them."""
    lines = []
    for whose, verdicts in (("Claims of the papers", found.papers), ("Claims of our own", found.own)):
        total = sum(verdicts[v] for v in (*DECIDED, "inconclusive"))
        if total:
            each = ", ".join(f"{word} {verdicts[v]}" for v, word in VERDICT_WORDS.items() if verdicts[v])
            lines.append(f"{whose}: {total} ({each}).")
    notes = [
        (found.with_history, "changed after rows had been seen"),
        (found.several_versions, "from rows of several versions of the code"),
        (found.near_trivial, "that could hardly fail"),
    ]
    if any(n for n, _ in notes):
        lines.append("Among all these: " + ", ".join(f"{n} {said}" for n, said in notes if n) + ".")
    if found.open_because:
        each = ", ".join(f"{n} for {REASON_WORDS[reason]}" for reason, n in found.open_because.most_common())
        lines.append(f"Open: {each}.")
    return lines


VERDICT_WORDS = {
    "holds": "holds",
    "contradicted": "contradicted",
    "negligible": "negligible",
    "inconclusive": "open",
}
REASON_WORDS = {
    "budget": "too short runs",
    "seeds": "too few seeds",
    "edge": "a best setting at the end of its sweep",
    "rivals": "other settings that may be as good",
    "grid": "evaluations too far apart",
    "ends": "runs of different length",
    "diverged": "runs that diverged",
    "ties": "members that are exactly alike",
    "": "no stated reason",
}
