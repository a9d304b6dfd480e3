"""The heads figure: its data against theory and the table, its files."""

import numpy as np
import pytest

from dynamics.experiments.variants import PRESETS
from dynamics.heads.coupling import Mixing, MixingTable, cells, fixed
from dynamics.heads.coupling_file import read_table, shipped_table, write_table
from dynamics.model.config import ModelConfig
from dynamics.sweep.run import run_sweep
from dynamics.tasks.induction import Induction
from dynamics.training.settings import TrainConfig
from scripts.figures.trained import fig_heads
from tests.scripts.commands import drawn
from theory import landscape


def head(alpha, beta, key_gain=5.0, value_gain=4.0, successor=0.5):
    return Mixing(
        seed=0, head=0, alpha=alpha, beta=beta, start_alpha=(0.75, 0.25), start_beta=(0.125, 0.875),
        successor=successor, key_gain=key_gain, value_gain=value_gain,
    )  # fmt: skip


HEADS = (
    head((0.0, 1.0), (1.0, 0.0), successor=0.9),
    head((0.5, -1.0), (1.0, 0.25), key_gain=-3.0, successor=0.6),
    head((1.0, -1.0), (0.25, 1.0), successor=0.1),
    head((0.75, 0.25), (-0.5, 1.0), value_gain=1.0, successor=0.0),
)
TABLE = MixingTable(config=ModelConfig(), training=TrainConfig(task=Induction(pool=12)), accuracy={0: 1.0}, heads=HEADS)


@pytest.fixture(scope="module")
def data():
    return fig_heads.compute(TABLE, 21)


def test_data_gained_coefficients_are_those_no_gauge_changes(data):
    np.testing.assert_allclose(data.gained, [[5, 4], [3, 4], [-5, 1], [1.25, -0.5]])


def test_data_map_is_the_loss_of_the_mean_sentence(data):
    assert data.tokens == 5
    loss = landscape.loss(0.0, data.alpha2[3], data.beta1[9], 0.0, 5, "mean")
    assert data.chance[3, 9] == pytest.approx(np.exp(-loss), abs=1e-14)
    assert data.alpha2[-1] > 5 and data.alpha2[0] < -5 and data.beta1[0] < -0.5


def test_data_counts_compare_sizes_of_trained_heads(data):
    assert data.cells[0].tolist() == [[0, 0], [4, 0]]
    assert data.cells[1].tolist() == [list(row) for row in cells(fixed(h.alpha, h.beta) for h in HEADS)]
    assert data.cells[1].tolist() == [[0, 2], [2, 0]]
    assert data.cells[2].sum() == 128


def test_no_words_of_the_plane_cover_a_label_of_its_contours():
    figure = fig_heads.draw(fig_heads.compute(shipped_table(), fig_heads.FULL_SIZE))
    panel = figure.axes[0]
    boxes = [text.get_window_extent() for text in panel.texts]
    assert len(boxes) > 6
    assert not [1 for row, box in enumerate(boxes) for other in boxes[:row] if box.overlaps(other)]


def test_main_leaves_its_files_and_the_table_on_request(tmp_path):
    preset = PRESETS["coupling-quick"]
    few = {"steps": 2, "batch": 4, "heldout_rows": 16}
    jobs = [job.model_copy(update={"training": job.training.model_copy(update=few)}) for job in preset.jobs(2)]
    run_sweep(jobs, tmp_path / "sweep", measure=preset.measure, backend="sequential", weights=True, progress=False)
    options = ["--sweep", str(tmp_path / "sweep"), "--quick", "--table", str(tmp_path / "heads.jsonl")]
    drawn(tmp_path, "fig_heads", *options)
    table = read_table(tmp_path / "heads.jsonl")
    assert len(table.heads) == 16
    write_table(tmp_path / "again.jsonl", table)
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "heads.jsonl").read_bytes()
