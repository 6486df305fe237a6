"""The explorer ends on a signal, also on one that all processes of its group get."""

import os
import signal
import subprocess
import sys
import time

import pytest

import lopsided as lop
from tests.library.small import spec

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_group_ends_it(number, tmp_path):
    """The process that decides claims died of it while it held a lock, and the page waited for that for ever."""
    lop.run(spec(0.5), 1, tmp_path)
    command = [sys.executable, "-m", "lopsided.cli", "explore", str(tmp_path)]
    with subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as page:
        assert "The page is at" in page.stdout.readline()
        time.sleep(4)  # until the other process waits for work
        os.killpg(page.pid, number)
        try:
            _, said = page.communicate(timeout=60)
        finally:
            page.kill()
    assert page.returncode == 0
    assert said == "lopsided: the page has ended\n"
