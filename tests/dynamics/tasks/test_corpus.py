"""The corpus: the standard library of this Python, one text whatever the order of the files, split by their hashes."""

import hashlib

import numpy as np
import pytest

from dynamics.tasks import corpus as module
from dynamics.tasks.corpus import read_corpus, standard_library
from tests.dynamics.refusal import refused


def library(folder):
    for number in range(40):
        place = folder / f"pack{number % 3}" / f"m{number}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(b"x = %d\n" % number)
    return folder


def test_standard_library_is_text_below_128_in_two_parts():
    found = standard_library()
    assert len(found.training) > 3_000_000 and len(found.heldout) > 300_000 and found.files > 300
    assert found.training.dtype == np.uint8 and max(found.training.max(), found.heldout.max()) < 128
    assert b"import os" in found.training.tobytes()
    assert standard_library() is found


def test_a_file_goes_to_the_part_that_its_own_hash_names(tmp_path):
    found = read_corpus(library(tmp_path))
    files = {path.read_bytes(): hashlib.sha256(path.read_bytes()).digest()[0] for path in tmp_path.rglob("*.py")}
    for part, heldout in ((found.training, False), (found.heldout, True)):
        lines = {line + b"\n" for line in part.tobytes().split(b"\n") if line}
        assert lines == {data for data, first in files.items() if (first < module.HELDOUT_BYTES) == heldout}
    assert found.files == 40


@pytest.mark.parametrize(
    "name", ["test/a.py", "pack0/tests/a.py", "site-packages/a/b.py", "_sysconfigdata_x.py", "a.txt"]
)
def test_tests_other_packages_and_build_files_are_left_out(tmp_path, name):
    before = read_corpus(library(tmp_path))
    (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
    (tmp_path / name).write_text("y = 1\n")
    after = read_corpus(tmp_path)
    assert after.sha256 == before.sha256 and after.files == before.files


def test_hash_follows_every_byte_and_every_name(tmp_path):
    seen = {read_corpus(library(tmp_path)).sha256}
    (tmp_path / "pack0" / "m0.py").write_bytes(b"x = 1 \n")
    seen.add(read_corpus(tmp_path).sha256)
    (tmp_path / "pack0" / "m0.py").rename(tmp_path / "pack0" / "n0.py")
    seen.add(read_corpus(tmp_path).sha256)
    assert len(seen) == 3


def test_bytes_beyond_ascii_become_question_marks(tmp_path):
    library(tmp_path)
    (tmp_path / "a.py").write_text("# naïve\n", encoding="utf-8")
    found = read_corpus(tmp_path)
    assert b"na??ve" in found.training.tobytes() + found.heldout.tobytes()


def test_too_few_files_are_refused(tmp_path):
    refused("0 Python sources are too few", read_corpus, tmp_path)
