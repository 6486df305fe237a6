"""The README's library example runs as printed, on fewer steps and seeds."""

import re
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_library_example(tmp_path, monkeypatch, capsys):
    code = re.search(r"```python\n(.*?)```", README, re.S)[1]
    small = code.replace('"steps": 3000', '"steps": 100').replace("seeds=16", "seeds=2").replace("name: 16", "name: 2")
    assert small != code
    monkeypatch.chdir(tmp_path)
    exec(compile(small, "README.md", "exec"), {})
    assert capsys.readouterr().out.count("steps (median") == 2


def test_commands_exist():
    from lopsided.cli import app

    shell = "\n".join(re.findall(r"```bash\n(.*?)```", README, re.S))
    for command in re.findall(r"^lopsided (\w+)", shell, re.M):
        assert app[command]
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", shell, re.M):
        assert f"\n{target}:" in makefile
