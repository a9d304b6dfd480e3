"""What every command line shares: one plain line for bad input (exit 2), 130 for Ctrl-C, early checks of outputs."""

import argparse
import atexit
import errno
import gc
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from .examples import examples

BAD_INPUT, INTERRUPTED, CLOSED_PIPE = 2, 130, 141
_NEGATIVE = re.compile(r"^-(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|inf(?:inity)?|nan)$", re.IGNORECASE)
# Letters and marks by their class, and yet nothing to see.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
atexit.register(gc.freeze)  # a command that imported torch ends a second earlier without a last collection
_FAILED_WRITE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, without the usage block; no text argument may be empty."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.register("type", None, _not_empty)
        self._negative_number_matcher = _NEGATIVE  # argparse's own takes -1e-3 for an option, and says nothing of it

    def error(self, message: str) -> NoReturn:
        complain(message)
        raise SystemExit(BAD_INPUT)


def _not_empty(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError(f"expected a name, got {text!r}")
    return text


def program(*words: str) -> str:
    """How a command is called, here or where it is installed."""
    installed = (__package__ or "").startswith("induction_workbench")
    return " ".join(("induction-workbench" if installed else "python -m scripts", *words))


EXIT = """
exit status: 0 answered (also where nothing is found), 1 not confirmed, 2 bad input (one line, nothing written),
130 interrupted"""


def command_parser(name: str, doc: str | None) -> Parser:
    """The parser of a command, of "figure NAME" or "study NAME", whose --help ends with its examples."""
    prog = program(name)
    lines = [f"  {' '.join(filter(None, (prog, words)))}" for words in examples(name)]
    epilog = "\n".join(["examples:", *lines, EXIT])
    p = Parser(prog=prog, description=doc, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quiet", action="store_true", help="no progress bar and no hints, which go to standard error")
    return p


def bar(args: argparse.Namespace, *items: Iterable[Any], **settings: Any) -> Any:
    """A progress bar of tqdm on a terminal, and none under --quiet."""
    from tqdm import tqdm

    return tqdm(*items, disable=args.quiet or None, **settings)


def hint(args: argparse.Namespace, text: str) -> None:
    """A line on standard error that is no part of the answer: what is done now, or what to do next."""
    if not args.quiet:
        print(wrapped(text), file=sys.stderr, flush=True)


def run(main: Callable[[list[str] | None], int], argv: list[str] | None = None) -> int:
    """Call `main(argv)`; bad input becomes one line and exit 2, Ctrl-C 130, a reader that has left (`| head`) 141."""
    try:
        try:
            return main(argv)
        finally:
            sys.stdout.flush()  # here, where a closed pipe or a full disk can still be told
    except KeyboardInterrupt as stop:
        advice = " ".join(map(str, stop.args)) or "nothing half-written was left behind"
        print(f"interrupted: {plain(advice)}", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError) as error:
        lost = _stdout_error(error)
        if lost is not None and lost.errno == errno.EPIPE:
            return CLOSED_PIPE
        text = str(error) if lost is None else f"standard output: {lost.strerror}"
        complain(text)
        return BAD_INPUT


@contextmanager
def resumable() -> Iterator[None]:
    """What is interrupted here says that the same command goes on."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the same command goes on where it was") from None


def plain(text: str) -> str:
    """The text in one line that looks as it reads: what does not print, or turns or hides its neighbours, is escaped.

    Whatever others have written (names, messages, files) goes through here on its way to a terminal: a line break in it
    would begin a line of ours, and an escape sequence could change what stands there.
    """
    return "".join(
        letter if letter.isprintable() and not _UNSEEN.match(letter) else letter.encode("unicode_escape").decode()
        for letter in text
    )


def page(lines: Iterable[str]) -> str:
    """The lines, each of them plain."""
    return "\n".join(map(plain, lines))


def aligned(rows: Sequence[Sequence[str]], flush: Callable[[str, int], str] = str.rjust) -> list[str]:
    """The rows of a table as lines, every column flush right, or left by `str.ljust`."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(flush(cell, width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def wrapped(text: str, most: int | None = None) -> str:
    """The text, plain, in lines of at most 120 columns, all but the first indented; ".." stands for what does not fit
    into `most` lines.
    """
    lines = textwrap.wrap(plain(text), 120, subsequent_indent="  ", max_lines=most, placeholder=" ..")
    return "\n".join(lines)


def complain(text: str) -> None:
    """One line of an error, on standard error."""
    print("error: " + plain(" ".join(text.split())), file=sys.stderr)


def _stdout_error(raised: ValueError | OSError) -> OSError | None:
    """Why standard output takes no more, if so; what is left for it is then dropped, so that nothing is said at exit.

    Unbuffered, a failed print leaves nothing to flush: it is known by its cause and by naming no file, as ours all do.
    """
    found = None
    if isinstance(raised, OSError) and raised.filename is None and raised.errno in _FAILED_WRITE:
        found = raised
    try:
        sys.stdout.flush()
    except OSError as error:
        found = error
    if found is not None:
        with suppress(OSError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
    return found


def output_file(path: str) -> Path:
    """A path that a file can be written to; its folders are made only when it is.

    Raises ValueError for a folder, a device, a pipe, a socket, a symbolic link, and where nothing may be written.
    """
    from dynamics.files.atomic import check_target

    if path.endswith(("/", os.sep)):
        raise ValueError(f"cannot write {path}: it names a folder")
    target = check_target(path)
    _check_writable(target.parent, path)
    return target


def hashed_file(path: str | Path) -> Path:
    """As `output_file`, of a file that gets its hash beside it."""
    target = output_file(str(path))
    output_file(f"{target}.sha256")
    return target


def jsonable(value: Any) -> Any:
    """Arrays and records as JSON has them; None for what is not finite."""
    import math

    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: jsonable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(part) for part in value]
    if hasattr(value, "tolist"):
        return jsonable(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_text(content: Any, **settings: Any) -> str:
    """Arrays and records as JSON, null for what is not finite; settings: of `json.dumps`."""
    import json

    return json.dumps(jsonable(content), allow_nan=False, **settings) + "\n"


def write_json(target: str | Path, content: Any) -> None:
    """Write the content as JSON. Raises: ValueError for NaN and infinities, OSError."""
    import json

    from dynamics.files.atomic import atomic_write_text

    atomic_write_text(target, json.dumps(content, indent=1, allow_nan=False) + "\n")


def output_folder(path: str) -> Path:
    """A path that can be a folder of outputs. Raises ValueError otherwise."""
    target = Path(path)
    if not target.is_dir() and (target.exists() or target.is_symlink()):
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


def versions() -> dict[str, str]:
    """The versions of this workbench, of Python, and of the libraries that numbers depend on and that are in use."""
    from importlib.metadata import version

    from .. import __version__

    known = {name: version(name) for name in ("torch", "transformers", "numpy") if name in sys.modules}
    return known | {"python": sys.version, "workbench": __version__}


def numbers(text: str, told: str) -> list[int]:
    """Whole numbers with commas between; told: words and an example for the error."""
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise argparse.ArgumentTypeError(f"expected {told}, got {text!r}")
    return [int(part) for part in parts]


def layers_and_heads(text: str) -> dict[int, set[int]]:
    """An argparse type: layers and the heads chosen of each, none for all of them."""
    found: dict[int, set[int]] = {}
    for part in text.split(","):
        layer, point, head = part.partition(".")
        if not all(number.isascii() and number.isdigit() for number in ([layer, head] if point else [layer])):
            raise argparse.ArgumentTypeError(f"expected layers or layer.head such as 3,7.0,7.2, got {text[:60]!r}")
        chosen = found.setdefault(int(layer), set())
        if point:
            chosen.add(int(head))
    return found


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
