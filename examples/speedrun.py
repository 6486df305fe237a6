"""Do the GPT-2 speedrun's records stand? Public logs, judged: `python examples/speedrun.py report` prints the page.

The logs are evaluations of 260 public runs (KellerJordan/modded-nanogpt, MIT licence, commit f411b3d3). A record needs
a mean final validation loss of at most 3.28 at p < 0.01; the last evaluation is the one that is there, and evaluations
are 125 or 250 steps apart, so that times have to lie between them.
"""

import sys
from pathlib import Path

import lopsided as lop

LOGS = Path(__file__).parents[1] / "tests" / "logs" / "speedrun" / "speedrun_logs.csv"
GOAL, METRIC = 3.28, "val_loss"


def groups(runs, stand):
    """The changes of each record, and its baseline: one that stands, if there is any. (Arms of eight times the machines
    have other seconds, and are left out.)"""
    found = {}
    for arm in runs.arms:
        if not arm.endswith("-8x"):
            found.setdefault("_".join(arm.split("_")[:2]), []).append(arm)
    for record, arms in found.items():
        bases = [arm for arm in arms if "baseline" in arm.lower().removeprefix(record.lower())]
        changes = [arm for arm in arms if arm not in bases and len(runs.arms[arm]) > 1]
        if bases and changes:
            yield record, min(bases, key=lambda arm: stand[arm].verdict != "holds"), changes


def of(claim, digits=4):
    if claim.interval == (None, None):
        return f"{claim.effect:.{digits}g}"
    low, high = ("∞" if end is None else f"{end:.{digits}g}" for end in claim.interval)
    return f"{claim.effect:.{digits}g} [{low}, {high}]"


def report():
    runs = lop.read(LOGS, arm="record", run="run")
    stand = {arm: runs.reaches(arm, METRIC, GOAL) for arm in runs.arms}
    print("# Do the speedrun's records stand?\n")
    print("<!-- printed by `python examples/speedrun.py report`; a test compares -->\n")
    print(
        f"{len(runs)} public runs of {len(runs.arms)} arms of the GPT-2 speedrun (KellerJordan/modded-nanogpt,\n"
        "MIT licence, commit f411b3d3), read and judged by four lines:\n\n```python\nimport lopsided as lop\n\n"
        'runs = lop.read("speedrun_logs.csv", arm="record", run="run")\n'
        'print(runs.reaches("20260501_contra_muon", "val_loss", 3.28))\n```\n'
    )
    print("## Is the mean loss at most 3.28?\n")
    print("The record's own rule: one-sided, p < 0.01. The interval is of 98 %, which belongs to that test.\n")
    print("| arm | runs | mean final loss minus 3.28 | p | at most 3.28 | mean is there at step |")
    print("|---|---|---|---|---|---|")
    for arm, verdict in stand.items():
        claim = verdict.claim
        crosses = [note for note in verdict.notes if note.startswith("the mean crosses")]
        when = crosses[0].split(" at ")[1].removesuffix(" steps") if crosses else "–"
        p = "–" if claim.p_value is None else f"{claim.p_value:.2g}"
        print(f"| {arm} | {claim.members} | {of(claim, 2)} | {p} | {verdict.verdict} | {when} |")
    counts = {v: sum(each.verdict == v for each in stand.values()) for v in ("holds", "inconclusive", "contradicted")}
    said = ", ".join(f"{n} {name}" for name, n in counts.items())
    print(f"\nOf {len(stand)} arms: {said}. An open one needs more runs, not a better story.\n")
    print("## Is the change faster than its own baseline?\n")
    print(
        "Baseline / change: above 1, the change reaches 3.28 sooner. Several changes of one baseline share their\n"
        "errors (Holm).\n"
    )
    print("| change | baseline | steps | verdict | seconds | verdict |")
    print("|---|---|---|---|---|---|")
    for record, base, changes in groups(runs, stand):
        some = runs.where(lambda run, arms=(base, *changes): run.arm in arms)
        both = [some.against(base, METRIC, GOAL, axis) for axis in ("steps", "seconds")]
        for arm in changes:
            cells = [f"{of(found[arm].claim)} | {found[arm].verdict}" for found in both]
            print(f"| {arm} | {base.removeprefix(record + '_')} | {cells[0]} | {cells[1]} |")
    print("\nHow the logs were read:\n")
    for note in runs.notes:
        print(f"- {note}")


if __name__ == "__main__":
    if sys.argv[1:] != ["report"]:
        sys.exit("usage: python examples/speedrun.py report")
    report()
