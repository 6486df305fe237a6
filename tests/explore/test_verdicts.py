"""The process that decides claims executes nothing of the present folder, and leaves the environment as it was."""

import os
import time

import lopsided as lop
from lopsided.explore.folder import Folder
from lopsided.explore.verdicts import Verdicts
from tests.library.small import spec


def test_a_file_beside_is_not_executed_and_the_environment_is_put_back(tmp_path, monkeypatch):
    """Whatever this process started later found no module of its own folder, `python -m benchmarks.…` for example."""
    (tmp_path / "multiprocessing.py").write_text("open('executed', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    lop.run(spec(0.5), 1, tmp_path / "store")
    folder = Folder(tmp_path / "store")
    verdicts = Verdicts(folder)
    verdicts.start()
    until = time.monotonic() + 60
    while "PYTHONSAFEPATH" not in os.environ and time.monotonic() < until:
        time.sleep(0.01)
    assert os.environ["PYTHONSAFEPATH"] == "1"
    verdicts.close()
    folder.close()
    assert "PYTHONSAFEPATH" not in os.environ
    assert not (tmp_path / "executed").exists()
