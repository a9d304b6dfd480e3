"""Every sweep by name, from the modules of `dynamics.experiments`."""

from importlib import import_module

from dynamics.experiments import EXPERIMENTS, PAPER, QUICK, SweepPreset, Variant

__all__ = ["SWEEPS", "SweepPreset", "Variant", "named"]


def _merged() -> dict[str, SweepPreset]:
    found: dict[str, SweepPreset] = {}
    for module in EXPERIMENTS:
        presets = import_module(f"dynamics.experiments.{module}").PRESETS
        if twice := found.keys() & presets.keys():
            raise ValueError(f"two presets are called {min(twice)}")
        found |= presets
    return found


SWEEPS = _merged()


def named(name: str, size: str = "") -> SweepPreset:
    """The preset of that name at a size ("", QUICK or PAPER). Raises ValueError where there is none."""
    if name + size in SWEEPS:
        return SWEEPS[name + size]
    if name not in SWEEPS:
        names = ", ".join(sorted(other for other in SWEEPS if not other.endswith((QUICK, PAPER))))
        raise ValueError(f"no preset {name!r}; there are {names}")
    raise ValueError(f"{name} has no preset {name}{size}")
