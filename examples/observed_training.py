"""A plain loop that is observed: one layer with KV shifting on the induction task, and what its best head comes to do.

`python examples/observed_training.py 1500` takes a quarter of a minute on one core.
"""

import sys
from functools import partial

import torch

from dynamics.heads.theorem import coordinates
from dynamics.model.config import SMALL
from dynamics.model.decoder import build
from dynamics.observed.log import stacked
from dynamics.observed.observer import Observer
from dynamics.observed.task import on_rows
from dynamics.tasks.induction import Induction
from dynamics.training.batches import heldout_rows, training_batch
from dynamics.training.evaluation import as_tensors
from dynamics.training.loop import make_optimizer, train_step
from dynamics.training.settings import TrainConfig

MODEL = SMALL.model_copy(update={"mlp_width": 0})  # an MLP behind a head can turn the sign of what its values add


def main(steps: int) -> None:
    training = TrainConfig(steps=steps, batch=64, learning_rate=1e-3, task=Induction(pool=12))
    model = build(MODEL, torch.Generator().manual_seed(training.seed))
    optimizer = make_optimizer(model, training)
    look = partial(on_rows, rows=heldout_rows(training, MODEL.vocab, 256), task=training.task)
    observer = Observer(model, look, every=max(1, steps // 10), share=None)
    for step in range(steps):
        observer.step(step)
        train_step(model, optimizer, as_tensors(training_batch(training, MODEL.vocab, step), "cpu"), training.clip)
    observer.step(steps)

    lines = observer.lines
    attention, alpha, beta = (stacked(lines, name)[:, 0] for name in ("successor", "alpha", "beta"))
    theta, best = coordinates(stacked(lines, "gain"), alpha, beta), attention[-1].argmax()
    print("  step  attention  key gain * alpha2  value gain * beta1   of the best head")
    for line, share, (_, alpha2, beta1, _) in zip(lines, attention[:, best], theta[:, best], strict=True):
        print(f"{line.step:>6} {share:>10.3f} {alpha2:>18.3f} {beta1:>19.3f}")
    print(f"observing took {observer.share:.1%} of the training's time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 1000)
