"""Mixing tables: counts by hand, gains of constructed heads, the gauge, and what is refused."""

import numpy as np
import pytest
import torch

from dynamics.files.atomic import sha256_bytes
from dynamics.heads.coupling import Mixing, MixingTable, cells, collect, fixed, mixings
from dynamics.heads.coupling_file import read_table, write_table
from dynamics.heads.theorem import gains
from dynamics.model.config import ModelConfig
from dynamics.sweep.record import Job, Measure
from dynamics.sweep.run import run_sweep
from dynamics.tasks.induction import Induction
from dynamics.training.evaluation import heldout_batch
from dynamics.training.settings import TrainConfig
from tests.dynamics.heads.test_named import model_of, regauge
from tests.dynamics.refusal import refused

TRAINING = TrainConfig(steps=2, batch=8, task=Induction(pool=6), heldout_rows=20)
CONFIG = ModelConfig(vocab=24, width=16, n_heads=4, n_kv_heads=2, mlp_width=8)
BATCH = heldout_batch(0, 30, 24, 10)


def test_cells_are_laid_out_as_table_5():
    big, small = (2.0, 1.0), (1.0, 2.0)
    assert cells([(big, big)] * 4 + [(small, big)] * 3 + [(big, small)] * 2 + [(small, small)]) == ((4, 3), (2, 1))
    assert cells([((1.0, 1.0), (1.0, 1.0))]) == ((0, 0), (0, 1))
    assert cells([fixed((-1.0, 0.5), (0.2, -3.0))]) == ((0, 0), (1, 0))


@pytest.mark.parametrize("position", ["rope", "alibi", "none"])
def test_gained_coefficients_are_the_same_in_every_gauge(position):
    config = CONFIG.model_copy(update={"position": position})
    model, other = model_of(config), model_of(config)
    regauge(other, 0, 1, key_scale=-3.0, value_scale=1.0)
    regauge(other, 0, 0, key_scale=1.0, value_scale=0.5)
    pairs = list(zip(mixings(model, BATCH, 0), mixings(other, BATCH, 0), strict=True))
    for left, right in pairs:
        np.testing.assert_allclose(left.key + left.value, right.key + right.value, rtol=1e-6)
    assert [left.alpha != right.alpha for left, right in pairs] == [False, False, True, True]


def test_key_gain_is_a_plain_loop_over_rows_and_tokens():
    model = model_of(CONFIG)
    block, attention = model.blocks[0], model.blocks[0].attention
    normed = block.attention_norm(model.embedding[11:])
    expected = np.zeros(4)
    for row in range(len(BATCH.lengths)):
        distance = int(BATCH.query_index[row] - BATCH.position[row])
        for head in range(4):
            query = (normed @ attention.q_proj.weight[4 * head : 4 * head + 4].T).detach().numpy()
            key = (normed @ attention.k_proj.weight[4 * (head // 2) : 4 * (head // 2) + 4].T).detach().numpy()
            query, key = (x[:, :2] + 1j * x[:, 2:] for x in (query, key))  # one number a pair that is turned
            turned = query * np.exp(1j * distance * np.array([1.0, 0.01]))
            scores = (turned @ key.conj().T).real / 2
            own = np.trace(scores) / len(scores)
            other = (scores.sum() - np.trace(scores)) / (len(scores) * (len(scores) - 1))
            expected[head] += (own - other) / len(BATCH.lengths)
    np.testing.assert_allclose([key for key, _ in gains(model, BATCH)], expected, rtol=1e-6)


def test_value_gain_follows_the_logits_of_a_head_alone():
    model = model_of(CONFIG.model_copy(update={"mlp_width": 0}))
    block, attention = model.blocks[0], model.blocks[0].attention
    with torch.no_grad():
        attention.beta.copy_(torch.tensor([[1.0, 0.0]] * 2))
        attention.o_proj.weight[:, :8] = 0
        attention.o_proj.weight[:, 12:] = 0  # head 2 is left
        tokens = torch.arange(11, 24)[:, None]  # one token a row: all attention on itself
        added = attention(block.attention_norm(model.embed(tokens)))[:, 0]
        logits = (added * model.norm.weight) @ model.embedding[11:].T
    own, size = logits.trace(), len(logits)
    expected = own / size - (logits.sum() - own) / (size * (size - 1))
    assert gains(model, BATCH)[2][1] == pytest.approx(expected.item(), rel=1e-6)
    assert gains(model, BATCH)[0][1] == 0


def test_collected_table_has_every_head_of_every_seed(tmp_path):
    config = ModelConfig(vocab=24, width=8, n_heads=2)
    jobs = [Job(name=f"m.seed-{s}", config=config, training=TRAINING.model_copy(update={"seed": s})) for s in (3, 4)]
    run_sweep(jobs, tmp_path, measure=Measure(every=2), backend="sequential", weights=True, progress=False)
    table = collect(tmp_path)
    assert [(row.seed, row.head) for row in table.heads] == [(3, 0), (3, 1), (4, 0), (4, 1)]
    assert sorted(table.accuracy) == [3, 4] and table.config == config
    for row in table.heads:
        assert sum(row.start_alpha) == pytest.approx(1) and 0 <= row.start_alpha[0] < 1
        assert row.alpha != row.start_alpha
        assert row.alpha == pytest.approx(row.start_alpha, abs=0.01)  # two steps of a warm-up


def test_table_of_two_settings_is_refused(tmp_path):
    jobs = [Job(name=f"h{n}", config=ModelConfig(vocab=24, width=8, n_heads=n), training=TRAINING) for n in (1, 2)]
    run_sweep(jobs, tmp_path, measure=Measure(every=1), backend="sequential", weights=True, progress=False)
    refused("heads of different settings make no one table", collect, tmp_path)


TABLE = MixingTable(
    config=CONFIG, training=TrainConfig(), accuracy={0: 0.75}, heads=tuple(mixings(model_of(CONFIG).float(), BATCH, 0))
)


def test_written_table_is_read_back_to_six_decimals_and_a_changed_one_refused(tmp_path):
    path = tmp_path / "heads.jsonl"
    write_table(path, TABLE)
    found = read_table(path)
    assert (found.config, found.training, found.accuracy) == (TABLE.config, TABLE.training, TABLE.accuracy)
    for left, right in zip(found.heads, TABLE.heads, strict=True):
        for name in Mixing.model_fields:
            assert getattr(left, name) == pytest.approx(getattr(right, name), abs=5.1e-7)
    path.write_bytes(path.read_bytes().replace(b'"seed":0', b'"seed":1', 1))
    refused(r"not the bytes whose sha256 heads.jsonl.sha256 records", read_table, path)


@pytest.mark.parametrize(("text", "message"), [("", "Invalid JSON"), ("{}\n", "config: Field required")])
def test_damaged_table_is_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / "heads.jsonl"
    path.write_text(text)
    (tmp_path / "heads.jsonl.sha256").write_text(f"{sha256_bytes(text.encode())}  heads.jsonl\n")
    refused(message, read_table, path)
