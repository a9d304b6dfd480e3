"""One run of the arena: a stack of models, each on the batches of its own seed, scored on the same held-out rows.

Killed at any moment it goes on from its last state and ends with the same bytes: batches are functions of (seed, step).
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from dynamics.arena.record import PLACES, PackedTraining, Precision, Run, RunResult
from dynamics.files.atomic import atomic_write_text
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.model.stacked import logits
from dynamics.tasks.corpus import Corpus, standard_library
from dynamics.tasks.packed import Documents, Packed, documents, packed_rows
from dynamics.training.collector import frozen_heap
from dynamics.training.ensemble import Member, Stack
from dynamics.training.evaluation import heldout_rng, training_rng
from dynamics.training.interrupt import deferred_interrupt
from dynamics.training.loop import choose_device
from dynamics.training.state import History, StateKeeper

CHUNK = 64  # held-out rows at a time
SAVE_EVERY = 500
DECIMALS = 6  # of a loss as it is kept: below the rounding of its sum over thousands of tokens

Forward = Callable[..., tuple[Tensor, Tensor]]
Watch = Callable[[int, Stack], None]


class Texts(NamedTuple):
    """The documents of the two parts of a corpus."""

    training: Documents
    heldout: Documents


def texts(corpus: Corpus, wanted: str) -> Texts:
    """Find the documents. Raises ValueError for another corpus than the one wanted."""
    if corpus.sha256 != wanted:
        raise ValueError(f"the text is {corpus.sha256[:12]}.., the settings are for {wanted[:12]}..")
    return Texts(documents(corpus.training), documents(corpus.heldout))


def run(
    wanted: Run, result: Path, state: Path | None, device: str = "cpu", corpus: Corpus | None = None,
    precision: Precision = "float32", watch: Watch | None = None,
) -> RunResult:  # fmt: skip
    """Train from the last state, or from the start, and write the result.

    state: None to keep none, so that a run that is killed begins anew. precision: of matmuls in the forward pass;
    weights and their moments stay float32, and so do held-out losses. watch(updates done, models): called before the
    first update and after each, to look on.
    Raises: ValueError, one line: another corpus, a state of other settings; KeyboardInterrupt on Ctrl-C, between two
    steps and with the state saved; OSError for a full disk.
    """
    source = texts(corpus or standard_library(), wanted.training.corpus)
    with frozen_heap(), deferred_interrupt() as asked:
        stack, history = _train(wanted, source, state, choose_device(device), asked, forward_of(precision), watch)
    found = _result(wanted, stack, history, source)
    atomic_write_text(result, found.model_dump_json() + "\n")
    if state is not None:  # after the result: a kill in between leaves a state that is swept away
        state.unlink(missing_ok=True)
    return found


def losses(
    config: ModelConfig, parameters: Mapping[str, Tensor], tokens: Tensor, segments: Tensor
) -> tuple[Tensor, Tensor]:
    """Mean cross-entropy of each model over its scored tokens, and the share it gets right, (models,) each.

    Args: tokens, segments: (models, rows, length + 1), as `Packed`.
    """
    each, right, scored = token_losses(config, parameters, tokens, segments)
    count = scored.sum((1, 2))
    return (each * scored).sum((1, 2)) / count, (right & scored).sum((1, 2)) / count


def token_losses(
    config: ModelConfig, parameters: Mapping[str, Tensor], tokens: Tensor, segments: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Cross-entropy of each target, whether it is the likeliest, and whether it is scored, (models, rows, length)."""
    scores = logits(config, parameters, tokens[..., :-1], segment_ids=segments[..., :-1])
    target = tokens[..., 1:]
    each = F.cross_entropy(scores.flatten(0, 2), target.flatten(), reduction="none").view(target.shape)
    found = scores.detach()
    right = found.gather(-1, target[..., None])[..., 0] >= found.amax(-1)
    return each, right, segments[..., 1:] == segments[..., :-1]


def forward_of(precision: Precision) -> Forward:
    """`losses`, or the same with matmuls in bfloat16."""
    if precision == "float32":
        return losses

    def mixed(config: ModelConfig, parameters: Mapping[str, Tensor], *rows: Tensor) -> tuple[Tensor, Tensor]:
        with torch.autocast(rows[0].device.type, torch.bfloat16):
            return losses(config, parameters, *rows)

    return mixed


def _train(
    wanted: Run, source: Texts, state: Path | None, device: torch.device, asked, forward: Forward, watch: Watch | None
) -> tuple[Stack, History]:
    stack, training = new_stack(wanted, device), wanted.training
    keeper, heldout = StateKeeper(state, SAVE_EVERY, stack, stack.optimizer, wanted), heldout_rows(training, source)
    scored = training.scored[:-1]  # the last score is that of the result
    empty: History = {"done": [], "step": []} | {f"loss.{n}": [] for n in range(wanted.seeds)}
    history = keeper.resumed(empty, scored)
    watch = watch or (lambda *_: None)
    watch(len(history["done"]), stack)
    for step in range(len(history["done"]), training.steps):
        stack.step(step, rows(wanted.members, source, step, device), forward)
        history["done"].append(1.0)
        watch(step + 1, stack)
        if step + 1 in scored:
            _note(history, step + 1, _score(stack, heldout)[0])
        keeper.keep(step + 1, asked, history)
    return stack, history


def _note(history: History, done: int, loss: Tensor) -> None:
    history["step"].append(done)
    for n, value in enumerate(loss.tolist()):
        history[f"loss.{n}"].append(value)


def new_stack(wanted: Run, device: torch.device) -> Stack:
    """The models as they start: drawn on the CPU, so that one seed means one model on every device."""
    members = [
        Member(n, training, InductionModel(wanted.config, torch.Generator().manual_seed(training.seed)))
        for n, training in enumerate(wanted.members)
    ]
    return Stack(members, device, torch.float32)


def heldout_rows(training: PackedTraining, source: Texts) -> Packed:
    """The held-out rows, the same for every seed."""
    return packed_rows(heldout_rng(0), source.heldout, training.heldout_rows, training.length, training.packing)


def rows(members: list[PackedTraining], source: Texts, step: int, device: torch.device) -> tuple[Tensor, Tensor]:
    drawn = [
        packed_rows(training_rng(one.seed, step), source.training, one.rows, one.length, one.packing) for one in members
    ]
    return tuple(torch.from_numpy(np.stack(part)).to(device) for part in zip(*drawn, strict=True))


@torch.no_grad()
def _score(stack: Stack, heldout: Packed) -> tuple[Tensor, Tensor]:
    """Mean loss, (models,), and mean loss by the place of a token in its document, (models, PLACES)."""
    models, parts = len(stack.clip), []
    for start in range(0, len(heldout.tokens), CHUNK):
        rows = [torch.from_numpy(part[start : start + CHUNK]).expand(models, -1, -1) for part in heldout]
        parts.append(token_losses(stack.config, stack.parameters, *(part.to(stack.clip.device) for part in rows)))
    each, _, scored = (torch.cat(part, dim=1) for part in zip(*parts, strict=True))
    each, scored = each.double().flatten(1).cpu(), scored[0].flatten().cpu()
    place = torch.from_numpy(places(heldout).ravel())
    octave = [scored & (place >= 2**n) & (place < 2 ** (n + 1)) for n in range(PLACES)]
    return each[:, scored].mean(1), torch.stack([each[:, chosen].mean(1) for chosen in octave], dim=1)


def places(rows: Packed) -> np.ndarray:
    """How many tokens of its document stand before each target, (rows, length)."""
    index = np.arange(rows.segments.shape[1])
    fresh = np.diff(rows.segments, axis=1, prepend=-1) != 0
    return (index - np.maximum.accumulate(np.where(fresh, index, 0), axis=1))[:, 1:]


def _result(wanted: Run, stack: Stack, history: History, source: Texts) -> RunResult:
    loss, by_place = _score(stack, heldout_rows(wanted.training, source))
    _note(history, wanted.training.steps, loss)
    curves = [history[f"loss.{n}"] for n in range(wanted.seeds)]
    return RunResult(
        run=wanted, steps=[int(step) for step in history["step"]],
        loss=[[finite(value) for value in one] for one in curves],
        by_place=[[finite(value) for value in one] for one in by_place.tolist()],
    )  # fmt: skip


def finite(value: float) -> float | None:
    """A loss as it is kept; None for one that is not finite."""
    return round(value, DECIMALS) if np.isfinite(value) else None
