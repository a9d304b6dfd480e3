"""A plain loop that is observed: one layer with KV shifting on the induction task, and what its best head comes to do.

`python examples/observed_training.py 1500` takes a quarter of a minute on one core.
"""

import sys

import torch

from dynamics.heads.coupling import mixings
from dynamics.model.config import SMALL
from dynamics.model.decoder import build
from dynamics.observed.log import stacked
from dynamics.observed.observer import Observer
from dynamics.observed.probe import make_probe
from dynamics.tasks.induction import Induction
from dynamics.tasks.task import FIRST_TOKEN
from dynamics.training.batches import heldout_rows, training_batch
from dynamics.training.evaluation import as_tensors
from dynamics.training.loop import make_optimizer, train_step
from dynamics.training.settings import TrainConfig

MODEL = SMALL.model_copy(update={"mlp_width": 0})  # an MLP behind a head can turn the sign of what its values add


def main(steps: int) -> None:
    training = TrainConfig(steps=steps, batch=64, learning_rate=1e-3, task=Induction(pool=12))
    model = build(MODEL, torch.Generator().manual_seed(training.seed))
    optimizer = make_optimizer(model, training)
    heldout = heldout_rows(training, MODEL.vocab)
    probe = make_probe(model, k=6, repeats=2, prompts=4, excluded=range(FIRST_TOKEN))
    observer = Observer(model, probe, every=max(1, steps // 10), share=None)
    seen = []
    for step in range(steps + 1):
        if observer.step(step) is not None:
            seen.append(mixings(model, heldout, training.seed))
            observer.resume()  # the line above was no training
        if step < steps:
            batch = training_batch(training, MODEL.vocab, step)
            train_step(model, optimizer, as_tensors(batch, "cpu"), training.clip)

    scores = stacked(observer.lines, "induction")[:, 0]
    best = scores[-1].argmax()
    print("  step  induction  key gain * alpha2  value gain * beta1   of the best head")
    for line, score, heads in zip(observer.lines, scores[:, best], seen, strict=True):
        print(f"{line.step:>6} {score:>10.3f} {heads[best].key[1]:>18.3f} {heads[best].value[0]:>19.3f}")
    print(f"observing took {observer.share:.1%} of the training's time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 1000)
