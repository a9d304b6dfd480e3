"""A written file is whole or absent, and what is no file of ours to replace is left as it is."""

import errno
import os
import socket
import stat
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from dynamics.files import atomic
from dynamics.files.hashed import write_hashed
from dynamics.files.lock import held
from tests.dynamics.interruption import interrupt
from tests.dynamics.refusal import refused


def make_socket(path):
    with closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(os.path.relpath(path))


def make_device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("devices are made by root only")


def make_link(path):
    target = path.with_name("elsewhere")
    target.write_text("mine")
    path.symlink_to(target)


KINDS = [
    (Path.mkdir, "it is a folder"),
    (os.mkfifo, "it is a named pipe"),
    (make_socket, "it is a socket"),
    (make_device, "it is a device"),
    (make_link, "it is a symbolic link to .*elsewhere"),
    (partial(os.symlink, "nowhere"), "it is a symbolic link to nowhere"),
]


def found(folder):
    """What lies there; to read where a link leads changes the time of access alone."""
    stats = {path.name: path.lstat() for path in folder.iterdir()}
    return {name: (one.st_mode, one.st_ino, one.st_size, one.st_mtime_ns) for name, one in stats.items()}


@pytest.mark.parametrize(
    ("write", "beside"), [(atomic.atomic_write_text, ""), (write_hashed, ""), (write_hashed, ".sha256")]
)
@pytest.mark.parametrize(("make", "words"), KINDS)
def test_what_is_no_regular_file_is_refused_and_left_as_it_is(tmp_path, monkeypatch, make, words, write, beside):
    monkeypatch.chdir(tmp_path)
    make(tmp_path / f"out{beside}")
    before = found(tmp_path)
    refused(f"cannot write .*out{beside}: {words}", write, tmp_path / "out", "new")
    assert found(tmp_path) == before


def test_a_folder_on_the_way_may_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    atomic.atomic_write_text(tmp_path / "link" / "file", "new")
    assert (tmp_path / "real" / "file").read_text() == "new"


def test_a_replaced_file_hands_on_its_permissions(tmp_path):
    target = tmp_path / "file"
    target.write_text("old")
    target.chmod(0o640)
    atomic.atomic_write_text(target, "new")
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new", 0o640)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_is_refused(tmp_path):
    target = tmp_path / "file"
    target.write_text("old")
    target.chmod(0o444)
    refused("file: the file is read-only", atomic.atomic_write_text, target, "new")


def test_what_a_kill_left_of_an_earlier_write_is_removed_and_what_another_process_writes_is_not(tmp_path):
    dead, alive = (tmp_path / f".file.{letter * 12}.tmp" for letter in "ab")
    dead.write_text("ne")
    with open(held(alive), "w"):
        atomic.atomic_write_text(tmp_path / "file", "new")
        assert sorted(os.listdir(tmp_path)) == [alive.name, "file"]
    atomic.atomic_write_text(tmp_path / "file", "newer")
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_an_interrupted_write_keeps_the_old_file_whole(tmp_path, monkeypatch, call):
    (tmp_path / "file").write_text("old")
    with monkeypatch.context() as patch:
        interrupt(patch, os, call)
        with pytest.raises(KeyboardInterrupt):
            atomic.atomic_write_text(tmp_path / "file", "new")
    assert (os.listdir(tmp_path), (tmp_path / "file").read_text()) == (["file"], "old")


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_a_full_disk_is_told_with_the_file_and_leaves_nothing(tmp_path, monkeypatch, call):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    target = tmp_path / "file"
    target.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(OSError, match="No space left on device") as caught:
            atomic.atomic_write_text(target, "new")
    assert (caught.value.filename, caught.value.errno) == (str(target), errno.ENOSPC)
    assert (os.listdir(tmp_path), target.read_text()) == (["file"], "old")
