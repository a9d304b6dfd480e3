"""A plain loop that is observed: one layer with KV shifting on the induction task, its heads, and the flow beside them.

`python examples/observed_training.py 1500` takes a minute on one core.
"""

import sys

import torch

from dynamics.model.config import SMALL
from dynamics.model.decoder import build
from dynamics.observed.flow import directions, flow_beside, is_induction, mixing_path
from dynamics.observed.log import stacked
from dynamics.observed.observer import Observer
from dynamics.observed.probe import make_probe
from dynamics.tasks.induction import Induction
from dynamics.tasks.task import FIRST_TOKEN
from dynamics.training.batches import training_batch
from dynamics.training.evaluation import as_tensors
from dynamics.training.loop import make_optimizer, train_step
from dynamics.training.settings import TrainConfig

POOL = 12


def main(steps: int) -> None:
    training = TrainConfig(steps=steps, batch=64, learning_rate=1e-3, task=Induction(pool=POOL))
    model = build(SMALL, torch.Generator().manual_seed(training.seed))
    optimizer = make_optimizer(model, training)
    probe = make_probe(model, k=6, repeats=2, prompts=4, excluded=range(FIRST_TOKEN))
    observer = Observer(model, probe, every=max(1, steps // 10), share=None)
    for step in range(steps):
        observer.step(step)
        batch = training_batch(training, SMALL.vocab, step)
        train_step(model, optimizer, as_tensors(batch, "cpu"), training.clip)
    observer.step(steps)

    path, scores = mixing_path(observer.lines), stacked(observer.lines, "induction")[:, 0]
    best = scores[-1].argmax()
    flow = flow_beside(path, POOL, 1e3).theta
    print("  step  induction   alpha1 alpha2   beta1  beta2   of the best head, |c1| + |c2| = 1")
    for step, score, theta in zip(path.steps, scores[:, best], directions(path.theta[:, best]), strict=True):
        print(f"{step:>6} {score:>10.3f}   " + " ".join(f"{value:>6.3f}" for value in theta))
    print(" " * 20 + " ".join(f"{value:>6.3f}" for value in directions(flow[-1, best])) + "   the flow from its start")
    ends = is_induction(path.theta[-1]).sum(), is_induction(flow[-1]).sum()
    print(f"heads whose keys look back and whose values stay: {ends[0]} of {len(flow[0])}, in the flow {ends[1]}")
    print(f"observing took {observer.share:.1%} of the training's time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 1000)
