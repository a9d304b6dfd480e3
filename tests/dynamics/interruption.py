"""Ctrl-C, or a kill, in the middle of a run."""

import os
import signal


def interrupt(patch, module, name, call=1, sent=signal.SIGINT):
    """Deliver a real signal when the module's function is called that often; the list grows by 1 at every call."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a shell starts without it
    plain, calls = getattr(module, name), []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == call:
            os.kill(os.getpid(), sent)
        return plain(*arguments)

    patch.setattr(module, name, interrupted)
    return calls
