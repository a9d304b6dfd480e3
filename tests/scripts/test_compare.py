"""The comparison's command line: its files, its table, going on after a kill, refusals; and its figure."""

import pytest

from dynamics.comparison import induction, plan, presets
from dynamics.comparison.by_distance import read_scopes
from dynamics.comparison.head_reading import read_reading
from dynamics.comparison.record import Settings, read_comparison
from dynamics.files.lock import only_writer
from dynamics.model.config import ModelConfig
from dynamics.tasks import corpus
from dynamics.tasks.needles import VOCAB
from dynamics.training.checkpoint import load
from dynamics.training.text_settings import TextTraining
from scripts.commands.studies.compare_table import formula, scope_table, table
from tests.dynamics.comparison.test_policies import CORPUS
from tests.scripts.commands import told

CONFIG = ModelConfig(vocab=VOCAB, width=8, n_heads=4, n_layers=2, mlp_width=8, shift="kv", position="alibi")


def tiny(sha256, seeds, quick):
    training = TextTraining(corpus=sha256, lengths=((16, 2),), tokens=64, warmup=1)
    return Settings(config=CONFIG, training=training, seeds=seeds, context=48, budgets=("1/2", "1/4"), sinks=2,
                    text_rows=2, needle_rows=2, pairs=2, draws=1, score_k=8, centre_rows=1)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(presets, "preset", tiny)
        patch.setattr(corpus, "standard_library", lambda: CORPUS)
        short = induction.TRAINING.model_copy(update={"steps": 1, "batch": 4, "heldout_rows": 16})
        patch.setattr(induction, "TRAINING", short)
        patch.setattr(induction, "ROWS", 60)
        yield


def test_two_comparisons_in_one_folder_are_refused(tmp_path, refused):
    with only_writer(tmp_path):
        refused(line(tmp_path), "another run is writing here")


@pytest.mark.parametrize("name", ["compare.json", "attention_by_distance.json.sha256"])
def test_results_that_could_not_be_written_are_refused_before_training(tmp_path, refused, name):
    (tmp_path / name).symlink_to("elsewhere")
    refused(line(tmp_path), f"{name}: it is a symbolic link")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def line(out):
    return f"compare --out {out} --seeds 2 --device cpu --threads 1 --quiet"


@pytest.fixture(scope="module")
def finished(small, tmp_path_factory):
    """The folder of a finished comparison and what was printed."""
    folder = tmp_path_factory.mktemp("compare")
    return folder, told(*line(folder).split())


def test_main_writes_results_that_are_read_back_and_prints_every_policy(finished):
    folder, printed = finished
    found = read_comparison(folder / "compare.json")
    assert len(found.cells) == 2 * (1 + 2 * (len(plan.POLICIES) - 1)) and len(found.heads) == 2
    assert len(read_scopes(folder / "attention_by_distance.json").heads) == 2 * 8
    assert len(read_scopes(folder / "attention_by_distance_induction.json").heads) == 2 * 8
    assert [model.seed for model in read_reading(folder / "head_reading.json").models] == [0, 1]
    model = load(folder / "model")
    assert model.model.config == CONFIG and 0 <= model.manifest.metrics["needles_found"] <= 1
    for policy in plan.POLICIES:
        assert f"\n{policy} " in printed
    assert str(folder / "compare.json") in printed and "weights above their bound" in printed


@pytest.mark.deep
def test_main_started_again_changes_nothing(finished, command):
    folder, _ = finished
    names = ("compare.json", "attention_by_distance.json", "attention_by_distance_induction.json", "head_reading.json")
    before = [(folder / name).read_bytes() for name in names]
    assert command(*line(folder).split())[0] == 0
    assert before == [(folder / name).read_bytes() for name in names]


def test_formulas_name_what_is_kept(finished):
    folder, _ = finished
    found = read_comparison(folder / "compare.json")
    assert formula(found, plan.FULL, "1") == "8 heads x 48"
    assert formula(found, plan.STREAMING, "1/2") == "8 x (2 sinks + 22 recent)"
    assert formula(found, plan.HEAVY, "1/4") == "8 x (6 recent + 6 heavy)"
    # 2 of 8 by induction, 1 by echo; 192 = 3 * 48 + 5 * 9 + 3
    assert formula(found, plan.RAZOR, "1/2") == "3 x 48 + 5 x (2 sinks + 6 recent + 1 token)"
    assert formula(found, plan.DROPPING, "1/2") == "3 x 48 + 5 x (2 sinks + 7 recent)"
    assert all(len(line) <= 160 for line in table(found))
    assert "0 of 4 heads" in "\n".join(scope_table(read_scopes(folder / "attention_by_distance.json")))


def test_a_folder_of_other_settings_is_refused(finished, refused, monkeypatch):
    monkeypatch.setattr(presets, "preset", lambda *a: tiny(*a).model_copy(update={"sinks": 1}))
    refused(line(finished[0]), "other settings")
