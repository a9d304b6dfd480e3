"""Run a file of claims and write what it states, as plain data, to the file descriptor named; nothing else counts.

A process of its own: `python -m proofs_check.language.emit FILE.py DESCRIPTOR`. What the file prints goes to standard
error.
"""

from __future__ import annotations

import json
import os
import runpy
import sys


def main(path: str, descriptor: int) -> int:
    from proofs_check import language

    os.dup2(2, 1)
    sys.path.append(os.path.dirname(os.path.abspath(path)))  # last: what lies beside the file hides nothing of ours
    try:
        runpy.run_path(path, run_name="claims")
        text = json.dumps([made.to_json() for made in language.STATED])
    except SystemExit:
        text = json.dumps("it exits before its end")
    except BaseException as fault:
        line = str(fault).replace("\n", " ")[:200]
        text = json.dumps(f"{type(fault).__name__}: {line}")
    with os.fdopen(descriptor, "w") as out:
        out.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
