"""The README's library example runs as printed, on fewer steps and seeds."""

import re
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_library_example(tmp_path, monkeypatch, capsys):
    code = re.search(r"```python\n(.*?)```", README, re.S)[1]
    small = code.replace("steps=400", "steps=40").replace("seeds=16", "seeds=2")
    assert small != code
    monkeypatch.chdir(tmp_path)
    exec(compile(small, "README.md", "exec"), {})
    assert "small reaches test/accuracy 0.95 in fewer samples than fresh: inconclusive" in capsys.readouterr().out


def test_it_is_short():
    assert len(README.split()) <= 900
