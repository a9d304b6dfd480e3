"""What every command line shares: one plain line for bad input (exit 2), 130 for Ctrl-C, early checks of outputs."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

BAD_INPUT, INTERRUPTED = 2, 130


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, without the usage block."""

    def error(self, message: str) -> NoReturn:
        print(f"error: {message}", file=sys.stderr)
        raise SystemExit(BAD_INPUT)


def run(main: Callable[[list[str] | None], int], argv: list[str] | None = None) -> int:
    """Call `main(argv)` and turn bad input into one line and exit 2, an interruption into 130."""
    try:
        return main(argv)
    except KeyboardInterrupt:
        print("interrupted: nothing half-written was left behind", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError) as error:
        print("error: " + " ".join(str(error).split()), file=sys.stderr)
        return BAD_INPUT


def output_file(path: str) -> Path:
    """A path that a file can be written to; its folders are made only when it is. Raises ValueError otherwise."""
    target = Path(path)
    if target.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder")
    _check_writable(target.parent, path)
    return target


def output_folder(path: str) -> Path:
    """A path that can be a folder of outputs. Raises ValueError otherwise."""
    target = Path(path)
    if target.exists() and not target.is_dir():
        raise ValueError(f"cannot write into {path}: it is not a folder")
    _check_writable(target, path)
    return target


def _check_writable(folder: Path, path: str) -> None:
    existing = folder.absolute()
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir():
        raise ValueError(f"cannot write {path}: {existing} is not a folder")
    if not os.access(existing, os.W_OK):
        raise ValueError(f"cannot write {path}: no permission in {existing}")


def finite(text: str) -> float:
    """An argparse type: a finite float."""
    import math

    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a finite number, got {text!r}")
    return value


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """An argparse type: an integer in low..high."""
    limit = f">= {low}" if high is None else f"in {low}..{high}"

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if value < low or (high is not None and value > high):
            raise argparse.ArgumentTypeError(f"expected a whole number {limit}, got {text!r}")
        return value

    return parse
