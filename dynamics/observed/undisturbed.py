"""Look at a model during its training: each mode and the random generators are afterwards as before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from dynamics.sinks.passes import device_of


@contextmanager
def undisturbed(model: nn.Module) -> Iterator[None]:
    """Within, the model is in evaluation mode, nothing is recorded for gradients and random draws are one's own.

    Each module's mode and the generators of torch come back on exit, also after an error. The modes are set one by
    one, not by `eval()`, which some layers take as the order to merge weights.
    """
    modules = list(model.modules())
    modes = [module.training for module in modules]
    device = device_of(model)
    with torch.random.fork_rng([device] if device.type == "cuda" else []), torch.no_grad():
        try:
            for module in modules:
                module.training = False
            with torch.autocast(device.type, enabled=False):
                yield
        finally:
            for module, mode in zip(modules, modes, strict=True):
                module.training = mode
