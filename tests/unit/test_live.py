"""Progress on a small terminal: share done and time left are seen, whatever else is cut."""

import io

import numpy as np
from rich.console import Console

from lopsided.core.engine import Evaluated, Member
from lopsided.core.progress import Progress
from lopsided.report.live import Display


def test_forty_arms_on_80_by_24(parity, tmp_path):
    specs = [parity(optimizer={"name": "sgd", "lr": 0.01 * (i + 1)}) for i in range(40)]
    names = {f"an arm with a long name, lr {spec.optimizer.lr:g}": spec.content_hash() for spec in specs}
    console = Console(width=80, height=24, file=io.StringIO(), force_terminal=True)
    display = Display(console, lambda: names, "test/accuracy", tmp_path / "log")
    members = [Member(spec, 0) for spec in specs]
    display(Progress(0, 60, members, None, 0.0, 0.0, None))
    metrics = {"test/accuracy": np.linspace(0, 1, 40)}
    display(Progress(60, 60, members, Evaluated(60, metrics, np.full(40, -1), 1.0), 5.0, 0.5, 300.0))
    plain = Console(width=80, height=24, file=io.StringIO())
    with plain.capture() as capture:
        plain.print(display._table(Progress(60, 60, members, None, 5.0, 0.5, 300.0), "7 member-steps/s · 5 min left"))
    lines = capture.get().splitlines()
    assert len(lines) <= 24
    assert lines[0].startswith("50% · 7 member-steps/s · 5 min left")
    assert "and 21 arms that began earlier" in lines[-1]
    display.__exit__(None, None, None)
    log = (tmp_path / "log").read_text()
    assert "?" not in log
    assert "34 more" in log  # six arms are named, the rest is a count


def test_arms_that_sweeps_add_later_have_names(parity, tmp_path):
    first, added = parity(), parity(optimizer={"name": "sgd", "lr": 0.25})
    names = {"lr = 0.5": first.content_hash()}
    display = Display(Console(file=io.StringIO()), lambda: names, "test/accuracy", tmp_path / "log")
    display(Progress(0, 60, [Member(first, 0)], None, 0.0, 0.0, None))
    names["lr = 0.25"] = added.content_hash()
    display(Progress(0, 60, [Member(added, 0)], None, 0.0, 0.0, None))
    evaluated = Evaluated(60, {"test/accuracy": np.ones(1)}, np.full(1, -1), 1.0)
    display(Progress(60, 60, [Member(added, 0)], evaluated, 5.0, 0.5, 300.0))
    display.__exit__(None, None, None)
    assert "lr = 0.25 1.000" in (tmp_path / "log").read_text()


def test_a_run_is_named_with_what_was_changed(parity, tmp_path):
    spec = parity()
    plain = Console(width=80, height=24, file=io.StringIO())
    named = Display(plain, lambda: {"a": spec.content_hash()}, "test/accuracy", tmp_path / "log", "tour, steps=24")
    progress = Progress(0, 60, [Member(spec, 0)], None, 0.0, 0.0, None)
    named(progress)
    named.__exit__(None, None, None)
    assert " tour, steps=24 · 0%" in (tmp_path / "log").read_text()
    with plain.capture() as capture:
        plain.print(named._table(progress, "compiling"))
    assert capture.get().splitlines()[:2] == [f"{line:<80}".rstrip() for line in ("tour, steps=24", "0% · compiling")]
