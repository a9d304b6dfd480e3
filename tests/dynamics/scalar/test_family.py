"""Trained members of the family of shifts: the module against brute force, the recorded cells against the theorem."""

import numpy as np
import pytest
import torch

from dynamics.scalar import family
from dynamics.scalar.family_record import FamilyCell, FamilyTraining, read_family, write_family
from proofs_check.evidence.tolerances import ROUNDING
from proofs_check.oracles import family as oracle
from theory.induction.family import ARGUED, KERNELS, MEMBERS, mixing, possible

SMALL = FamilyTraining(vocabulary=4, longest=6, runs=2, steps=2, batch=3)
STUDY = read_family()


def made(member, width=8):
    return family.FamilyModel(member, SMALL, width, torch.Generator().manual_seed(1)).double()


def of_run(model, run):
    """The M, N and kernels of one run whose mixing is of the theorem's kind."""
    every = model.rows, model.w_q, model.w_k, model.w_v, model.out
    rows, w_q, w_k, w_v, out = (np.asarray(weight[run].detach()) for weight in every)
    kernels = [np.asarray(kernel[run, 0].detach()) for kernel in model.kernels]
    return rows @ w_q @ (rows @ w_k).T / w_k.shape[0] ** 0.5, rows @ w_v @ out, kernels


@pytest.mark.parametrize("member", [name for name in MEMBERS if name[:5] not in ("canon", "outpu", "parti")])
def test_a_member_computes_what_brute_force_does(member):
    model = made(member)
    words, target = family.draw_sentences(SMALL, 3, 5, torch.Generator().manual_seed(2))
    scores = model(words).detach()
    for run in range(2):
        match, read, kernels = of_run(model, run)
        mix = mixing(member, kernels) if kernels else mixing(member)
        for number, sentence in enumerate(words[run].tolist()):
            true = oracle.output(sentence, *mix, match, read)
            np.testing.assert_allclose(scores[run, number], true, rtol=0, atol=ROUNDING)
            assert sentence.count(sentence[-1]) == 2
            assert sentence[sentence.index(sentence[-1]) + 1] == target[run, number]


@pytest.mark.parametrize("member", ["output", "canon_c", "canon_d"])
def test_what_leaves_the_layer_cannot_tell_two_sentences_apart(member):
    model = made(member)
    one, other = (torch.tensor(x).expand(2, 1, -1) for x in ((0, 1, 2, 2, 2, 0), (1, 0, 2, 2, 2, 0)))
    assert torch.allclose(model(one), model(other), atol=ROUNDING)
    assert not torch.allclose(made("canon_b")(one), made("canon_b")(other), atol=ROUNDING)


@pytest.mark.parametrize("member", ["canon_a", "partial_key"])
def test_channels_of_their_own_are_weights_of_an_induction_head(member):
    """Half of the channels hold the token before; V = 4 of 8, so the other half holds the token."""
    model, eye, zero = made(member), torch.eye(4), torch.zeros(4, 4)
    half, lower, twice = torch.block_diag(eye, zero), torch.block_diag(zero, eye), torch.cat([eye, eye], 1)
    crossed = lower.roll(-4, 0)
    with torch.no_grad():
        model.rows[:], model.w_v[:], model.out[:] = twice, half, torch.cat([eye, zero])
        model.w_q[:], model.w_k[:] = 60 * crossed, lower if member == "canon_a" else torch.eye(8)
        if member == "canon_a":
            model.kernels[0][:] = 0
            model.kernels[0][:, :4, 0] = model.kernels[0][:, 4:, 1] = 1
    found = family.accuracy(model, SMALL, torch.Generator().manual_seed(3), count=50)
    assert found == (1.0, 1.0)


def test_the_recorded_cells_agree_with_the_theorem():
    """Every member at two widths: learns where some weights do it, does not where none do, proved or argued."""
    cells = {(cell.member, cell.width): cell for cell in STUDY.cells}
    widths = {width for _, width in cells}
    assert set(cells) == {(name, width) for name in MEMBERS for width in widths} and len(widths) == 2
    assert len(cells) == len(STUDY.cells)
    told = {at: (cell.learns, bool(possible(at[0]))) for at, cell in cells.items()}
    apart = {at: found for at, found in told.items() if found[0] != found[1]}
    assert apart == {at: (False, True) for at in apart}  # none learns what the theorem excludes
    assert not any(cells[at].learns for at in cells if at[0] in ARGUED)
    assert sum(true for _, true in told.values()) == 2 * len(KERNELS)
    learnt = {(cell.member, cell.width) for cell in STUDY.further if cell.learns}
    assert set(apart) <= learnt, apart


def test_shared_coefficients_are_learnt_by_some_runs_with_other_seeds_or_signs():
    """The theorem needs k0/k1 < 0, and the cells start with equal signs."""
    first = {(cell.member, cell.width): cell.training for cell in STUDY.cells}
    assert {cell.training.opposite for cell in STUDY.further} == {False, True}
    for cell in STUDY.further:
        changed = {"opposite": cell.training.opposite, "runs": cell.training.runs}
        assert cell.training == first[cell.member, cell.width].model_copy(update=changed)


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("member", ["key", "value", "canon_a", "none"])
def test_a_recorded_cell_is_trained_again(member):
    cell = next(cell for cell in STUDY.cells if cell.member == member)
    again = FamilyCell(member=member, width=cell.width, training=cell.training,
                       accuracy=family.trained(member, cell.training, cell.width))  # fmt: skip
    assert again.learns == cell.learns


def test_a_short_training_is_the_same_twice_and_a_record_comes_back(tmp_path):
    once = family.trained("key_value", SMALL, 8)
    assert once == family.trained("key_value", SMALL, 8) and len(once) == 2
    write_family(tmp_path / "family.json", STUDY)
    assert read_family(tmp_path / "family.json") == STUDY
    with pytest.raises(ValueError, match="one accuracy a run"):
        FamilyCell(member="key", width=8, training=SMALL, accuracy=(0.5,))
