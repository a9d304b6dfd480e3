"""Another implementation behind plain functions: arrays of its own library go in, float64 arrays come out."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from proofs_check.conform import reference

BACKENDS = ("numpy", "torch")
DTYPES = ("float64", "float32", "float16", "bfloat16")
PAIRS = ("halves", "neighbours")
CONVENTIONS = ("groups", "window", "corner")


class Adapter:
    """What a module, or any object with such attributes, claims: functions by the names of `spec.SUBJECTS`.

    BACKEND "numpy" or "torch", DTYPE of the numbers that go in, PAIRS of rotated channels: "halves" (i, i + d/2) or
    "neighbours" (2i, 2i + 1); CONVENTIONS, those that an attention means to have, of "groups", "window" and "corner";
    VOCAB, how many tokens a model knows (16 if it is not said).
    Raises: ValueError for other values of these.
    """

    def __init__(self, module: Any, name: str | None = None) -> None:
        self.module = module
        self.name = name or getattr(module, "__name__", type(module).__name__)
        self.backend = _one_of("BACKEND", getattr(module, "BACKEND", "numpy"), BACKENDS)
        self.dtype = _one_of("DTYPE", getattr(module, "DTYPE", "float32"), DTYPES)
        self.pairs = _one_of("PAIRS", getattr(module, "PAIRS", "halves"), PAIRS)
        self.conventions = tuple(
            _one_of("CONVENTIONS", each, CONVENTIONS) for each in getattr(module, "CONVENTIONS", ())
        )
        self.vocab = getattr(module, "VOCAB", 16)
        if type(self.vocab) is not int or self.vocab < 3:
            raise ValueError(f"VOCAB must be a whole number of at least 3, got {self.vocab!r}")
        if self.backend == "numpy" and self.dtype == "bfloat16":
            raise ValueError("DTYPE must be one of float64, float32, float16 with BACKEND 'numpy', got 'bfloat16'")

    def function(self, name: str) -> Callable[..., Any] | None:
        """What the adapter claims under this name; a helper called logits claims none unless it reads tokens.

        Raises: ValueError if it cannot be called.
        """
        found = getattr(self.module, name, None)
        if name == "logits" and not (hasattr(self.module, "VOCAB") or hasattr(self.module, "decoded")):
            found = found if callable(found) and [*inspect.signature(found).parameters] == ["tokens"] else None
        if found is not None and not callable(found):
            raise ValueError(f"{self.name}: {name} must be a function, got {found!r}")
        return found

    def takes(self, name: str, keyword: str) -> bool:
        """Whether the function has a parameter of this very name: what stands behind ** is no claim."""
        found = self.function(name)
        return found is not None and keyword in inspect.signature(found).parameters

    def call(self, name: str, *given: Any, **more: Any) -> Any:
        """Call a function; arrays (and lists of them) are handed over in its own kind, and come back as `plain`."""
        return plain(self.raw(name, *given, **more))

    def raw(self, name: str, *given: Any, **more: Any) -> Any:
        """What the adapter answers; meanwhile the suite's own formulas answer nobody."""
        with reference.silent():
            return self.function(name)(*map(self.own, given), **{key: self.own(x) for key, x in more.items()})

    def own(self, x: Any) -> Any:
        """Floats in the adapter's dtype, whole numbers and yes or no as they are; always a copy."""
        if isinstance(x, list | tuple):
            return type(x)(self.own(part) for part in x)
        if not isinstance(x, np.ndarray):
            return x
        if self.backend == "numpy":
            return x.astype(self.dtype) if x.dtype.kind == "f" else x.copy()
        import torch

        tensor = torch.from_numpy(x.copy())
        return tensor.to(getattr(torch, self.dtype)) if x.dtype.kind == "f" else tensor

    def rounded(self, x: np.ndarray) -> np.ndarray:
        """The numbers that the adapter is handed, in float64: what it must be right about."""
        return plain(self.own(np.asarray(x, dtype=np.float64)))


def plain(x: Any) -> Any:
    """Tensors and arrays as float64 arrays, in lists and tuples too; a state that is neither stays what it is."""
    if isinstance(x, list | tuple) and type(x) in (list, tuple):
        return type(x)(plain(part) for part in x)
    if hasattr(x, "detach"):
        tensor = x.detach().cpu()
        x = tensor.double().numpy() if tensor.is_floating_point() else tensor.numpy()
    if not isinstance(x, np.ndarray | np.generic):
        return x
    if x.dtype.kind not in "fiub":
        raise TypeError(f"expected real numbers, got an array of {x.dtype}")
    return np.asarray(x) if x.dtype.kind == "b" else np.asarray(x, dtype=np.float64)


def load(place: str) -> Adapter:
    """The adapter in a file (..py) or an importable module. Raises ValueError, one line, if it cannot be loaded."""
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except (Exception, SystemExit) as error:  # the file is the user's: whatever goes wrong in it is what has to be said
        raise ValueError(f"{place} cannot be loaded: {type(error).__name__}: {error}") from error
    return Adapter(module, place)


def _from_file(path):
    if not path.is_file():
        raise ValueError("there is no such file")
    name = f"conform_{path.stem}_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _one_of(name, value, known):
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    return value
