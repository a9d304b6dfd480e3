"""A folder has one writer at a time, and a writer that was killed blocks nobody."""

import os
import signal
import subprocess
import sys
import time

import pytest

from dynamics.files.lock import LOCK, only_writer
from dynamics.sweep import run
from tests.dynamics.folders import ROOT
from tests.dynamics.refusal import refused
from tests.dynamics.sweep.test_run import MEASURE, jobs

HOLD = """
import sys, time
from dynamics.files.lock import only_writer
with only_writer(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""
COUNT = """
import sys
from pathlib import Path
from dynamics.files.lock import only_writer
done, total = 0, Path(sys.argv[1]) / "total"
while done < 50:
    try:
        with only_writer(sys.argv[1]):
            total.write_text(str(int(total.read_text()) + 1))
            done += 1
    except ValueError:
        pass
"""


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_second_writer_is_told_who_holds_the_folder(tmp_path, holder):
    words = rf"^{tmp_path}: another run is writing here \(process {holder.pid} on .+\)$"
    with pytest.raises(ValueError, match=words), only_writer(tmp_path):
        pass
    refused(words, run.run_sweep, jobs(1), tmp_path, measure=MEASURE, backend="sequential", progress=False)
    assert os.listdir(tmp_path) == [LOCK]


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_writer_blocks_nobody_and_leaves_nothing_in_the_end(tmp_path, holder, stop):
    holder.send_signal(stop)
    holder.wait()
    with only_writer(tmp_path):
        assert os.listdir(tmp_path) == [LOCK]
    assert os.listdir(tmp_path) == []


def test_folders_that_stay_empty_are_removed_and_others_stay(tmp_path):
    with only_writer(tmp_path / "a" / "b"):
        pass
    assert os.listdir(tmp_path) == []
    (tmp_path / "mine").mkdir()
    with only_writer(tmp_path / "mine"):
        pass
    with only_writer(tmp_path / "c" / "d"):
        (tmp_path / "c" / "d" / "file").write_text("")
    assert sorted(os.listdir(tmp_path)) == ["c", "mine"]


def test_a_lock_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=LOCK), only_writer(tmp_path):
        pass
    assert os.listdir(tmp_path) == [LOCK]


def test_no_two_processes_ever_hold_it_at_once(tmp_path):
    (tmp_path / "total").write_text("0")
    command = [sys.executable, "-c", COUNT, str(tmp_path)]
    start, running = time.monotonic(), [subprocess.Popen(command, cwd=ROOT) for _ in range(3)]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    assert int((tmp_path / "total").read_text()) == 150, f"after {time.monotonic() - start:.1f} s"
