"""Sinks of a trained model, layer by layer: entropy, weight and size of the first token (resformer.eq11.*).

The shipped text model of four layers reads held-out sources of the running Python's standard library. It has ALiBi and
shifted keys, and no token that always comes first: all heads but one give the first token less than even attention
would, and yet its values are between half and three quarters as large as those of the others. A part of that is the
shift: what others mix in of the token before, the first one has not.
"""

from dynamics.sinks.measured import Measured, measure
from dynamics.tasks.corpus import standard_library
from dynamics.training.checkpoint import shipped

from . import sinks_panels
from .sinks_panels import Data
from .sinks_panels import draw as draw

QUICK_SIZE, FULL_SIZE = 4, 64
UNIT = "windows of the text"
MODEL, WINDOW = "alibi-text", 256
# The text behind the figure in docs/: another Python's library gives another one.
TEXT = "f97ddf07a4fe9978fef3f216131ce34bc018c0be95d6a6234835ea8107472af2"


def compute(size: int = FULL_SIZE) -> Data:
    """The panels of so many windows."""
    return sinks_panels.compute(measured(size))


def measured(size: int) -> Measured:
    """What the shipped model gives on the first `size` windows of the held-out text."""
    text = standard_library().heldout[: size * WINDOW]
    return measure(shipped(MODEL).model, text, WINDOW)
