"""One way to plant a mistake: where a condition holds, a right method gets other arguments, or its result is changed.

Conditions, changes and damages name what they read: the method's arguments, sizes of their axes, `self`, and `calls`,
how often the method was called.
"""

import inspect

import numpy as np

from tests.proofs_check.conform.right import Right

# The last axes of arguments.
AXES = {"logits": "rows heads queries keys", "q": "rows heads queries width", "k": "rows groups keys width",
        "x": "tokens width", "keys": "tokens width", "tokens": "rows length", "steps": "rows length"}
NOT_TAKEN = dict.fromkeys(("mask", "segments", "state"))  # what a method has no parameter for, nobody asks of it


def known(given):
    """Arguments by name, and the sizes of their axes."""
    return NOT_TAKEN | given | {name: size for key in given.keys() & AXES.keys()
                                for size, name in zip(given[key].shape[::-1], AXES[key].split()[::-1], strict=False)}


def asked(function, facts):
    """Call a function with what it names."""
    return function(*(facts[name] for name in inspect.signature(function).parameters))


def out(damage):
    """The damage done to an output, beside which a state may stand."""
    return lambda found: (damage(found[0]), *found[1:]) if isinstance(found, tuple) else damage(np.array(found))


def plant(into, where, check, method=None, when="True", found=lambda found: found, right=Right, **changes):
    """A class whose method gets other arguments (`changes`) and gives back something else (`found`).

    It is kept as into[class] = (where, check). method: by default the subject of the check; for `check` a subject may
    stand. when: an expression; where it is false, the method is that of `right`."""
    name = method or check.split(".")[0]
    rightly, holds = getattr(right, name), compile(when, where, "eval")

    def wrong(self, *given, **more):
        bound = inspect.signature(rightly).bind(self, *given, **more)
        bound.apply_defaults()
        self.calls = getattr(self, "calls", 0) + 1
        facts = known(bound.arguments | {"calls": self.calls})
        if not eval(holds, None, facts):
            return rightly(self, *given, **more)
        bound.arguments |= {key: asked(change, facts) for key, change in changes.items()}
        return asked(found, facts | {"found": rightly(*bound.args, **bound.kwargs)})

    wrong.__signature__ = inspect.signature(rightly)
    into[made := type(where, (right,), {name: wrong})] = (where, check)
    return made
