"""A run is the plain loop of each of its seeds; interrupted it ends with the same bytes."""

import numpy as np
import pytest
import torch
from torch import nn

from dynamics.arena import training as module
from dynamics.arena.record import PLACES
from dynamics.arena.training import heldout_rows, places, run, texts
from dynamics.model.decoder import InductionModel
from dynamics.tasks.corpus import standard_library
from dynamics.tasks.packed import packed_rows
from dynamics.training.evaluation import heldout_rng, training_rng
from dynamics.training.loop import learning_rate, make_optimizer
from tests.dynamics.arena.cases import TRAINING, plan
from tests.dynamics.interruption import interrupt
from tests.dynamics.refusal import refused

pytestmark = pytest.mark.usefixtures("one_thread")

SOURCE = texts(standard_library(), TRAINING.corpus)


def loss_of(model, rows):
    """Mean over the targets that are of the document of the token before, one by one."""
    tokens, segments = (torch.from_numpy(part) for part in rows)
    scores = model(tokens[:, :-1], segment_ids=segments[:, :-1]).log_softmax(-1)
    found = [
        -scores[row, at, tokens[row, at + 1]]
        for row in range(len(tokens))
        for at in range(tokens.shape[1] - 1)
        if segments[row, at] == segments[row, at + 1]
    ]
    return torch.stack(found).mean()


def plain_loop(training, config):
    model = InductionModel(config, torch.Generator().manual_seed(training.seed))
    optimizer, curve = make_optimizer(model, training), []
    held = packed_rows(heldout_rng(0), SOURCE.heldout, training.heldout_rows, training.length, "documents")
    for step in range(training.steps):
        optimizer.param_groups[0]["lr"] = learning_rate(training, step)
        rng = training_rng(training.seed, step)
        loss = loss_of(model, packed_rows(rng, SOURCE.training, training.rows, training.length, "documents"))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), training.clip)
        optimizer.step()
        if step % 2 == 1:
            with torch.no_grad():
                curve.append(loss_of(model, held).item())
    return curve


@pytest.mark.parametrize("name", ["kv", "resformer"])
def test_a_run_of_two_seeds_is_the_plain_loop_twice(name, tmp_path):
    wanted = plan(stack=2).run(name, 3)
    assert (wanted.name, wanted.training.seed, wanted.seeds) == (f"{name}.seed-2", 2, 2)
    found = run(wanted, tmp_path / "r.json", tmp_path / "s.safetensors")
    assert found.steps == [2, 4, 6]
    for one, curve in zip(wanted.members, found.loss, strict=True):
        assert curve == pytest.approx(plain_loop(one, wanted.config), abs=2e-5)
    assert not (tmp_path / "s.safetensors").exists()


def test_losses_by_place_weigh_up_to_the_loss(tmp_path):
    wanted = plan().run("kv", 0)
    found = run(wanted, tmp_path / "r.json", tmp_path / "s")
    held = heldout_rows(wanted.training, SOURCE)
    counts = np.bincount(np.log2(places(held)[held.scored]).astype(int), minlength=PLACES)
    by_place = [value or 0.0 for value in found.by_place[0]]
    assert np.dot(counts, by_place) / counts.sum() == pytest.approx(found.loss[0][-1], abs=1e-5)
    assert [value is None for value in found.by_place[0]] == [count == 0 for count in counts]


def test_ctrl_c_keeps_the_state_and_the_next_run_ends_with_the_same_bytes(tmp_path, monkeypatch):
    wanted = plan(stack=2).run("kv", 0)
    run(wanted, tmp_path / "whole.json", tmp_path / "whole.state")

    calls = interrupt(monkeypatch, module, "losses", 3)
    with pytest.raises(KeyboardInterrupt):
        run(wanted, tmp_path / "r.json", tmp_path / "state")
    assert (tmp_path / "state").exists()
    assert not (tmp_path / "r.json").exists()
    run(wanted, tmp_path / "r.json", tmp_path / "state")
    assert len(calls) == TRAINING.steps
    assert (tmp_path / "r.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_another_text_is_refused(tmp_path):
    wanted = plan().run("kv", 0)
    other = wanted.but(training=TRAINING.but(corpus="0" * 64))
    refused("the settings are for 000000000000", run, other, tmp_path / "r.json", tmp_path / "s")


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_bfloat16_is_near_float32_and_not_the_same(device, tmp_path):
    wanted = plan(training=TRAINING.but(rows=8, length=32)).run("kv", 0)
    plain = run(wanted, tmp_path / "a.json", tmp_path / "a", device)
    mixed = run(wanted, tmp_path / "b.json", tmp_path / "b", device, precision="bfloat16")
    assert mixed.loss != plain.loss
    np.testing.assert_allclose(mixed.loss, plain.loss, rtol=5e-3)
