"""A text as the tokens that a model reads: files, records and arrays, through the model's own tokenizer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.files.bounded import read_bytes
from dynamics.heads.rows import vocabulary
from dynamics.model.decoder import InductionModel
from theory.records import comparable

if TYPE_CHECKING:
    from torch import nn

ASCII = 128
LARGEST = 1 << 30  # bytes of a text
_TOKENIZER = "tokenizer.json"
Tokens = NDArray[np.int64]


class Facts(NamedTuple):
    """What a tokenizer says of its own tokens: the one that begins a text, the unknown one, and all special ones."""

    first: int | None = None
    unknown: int | None = None
    special: tuple[int, ...] = ()


@comparable
class Text(NamedTuple):
    """Pieces of tokens, (n,) each; every piece begins windows of its own. names: the file or the record of each.

    unknown: how many tokens are the tokenizer's unknown one, None where it has none or tokens were given.
    """

    pieces: tuple[Tokens, ...]
    names: tuple[str, ...]
    unknown: int | None = None

    @property
    def n_tokens(self) -> int:
        """Tokens of all pieces."""
        return sum(map(len, self.pieces))


def facts(model: nn.Module, folder: str | Path) -> Facts:
    """The special tokens of a model's tokenizer that the model knows, none without a tokenizer.

    Raises: ValueError for a tokenizer that cannot be read.
    """
    if isinstance(model, InductionModel) or not (Path(folder) / _TOKENIZER).is_file():
        return Facts()
    tokenizer = _tokenizer(folder)
    special = tuple(sorted({token for token in tokenizer.all_special_ids if token < vocabulary(model)}))
    first = tokenizer.bos_token_id
    return Facts(first if first in special else None, _unknown(tokenizer), special)


def read(
    model: nn.Module,
    folder: str | Path,
    *,
    texts: Sequence[str | Path] = (),
    tokens: str | Path | None = None,
    records: str | Path | None = None,
) -> Text:
    """Read one of three sources: text files, a file of tokens, or a file of records, each a piece of its own.

    Args: folder, of the model and its tokenizer; tokens, as `read_tokens`; records, a text with a record a line, or a
        .npy array (records, n) of tokens.
    Raises: OSError; ValueError of one line for what cannot be read, no tokens, or a text whose tokens are all unknown.
    """
    if tokens is not None:
        return Text((read_tokens(tokens),), (str(tokens),))
    if records is not None and Path(records).suffix == ".npy":
        rows = _array(Path(records), 2)
        return Text(tuple(rows), tuple(f"record {number}" for number in range(1, len(rows) + 1)))
    if records is not None:
        lines = [line for line in read_text(records).splitlines() if line.strip()]
        named = [(f"record {number}", line) for number, line in enumerate(lines, 1)]
    else:
        named = [(str(path), read_text(path)) for path in texts]
    pieces = []
    for name, text in named:
        pieces.append(tokens_of(model, folder, text))
        if not len(pieces[-1]):
            raise ValueError(f"{name}: the tokenizer finds no token in this text")
    unknown = facts(model, folder).unknown
    number = None if unknown is None else sum(int((piece == unknown).sum()) for piece in pieces)
    found = Text(tuple(pieces), tuple(name for name, _ in named), number)
    if number == found.n_tokens:
        raise ValueError(f"{named[0][0]}: all of its {number} tokens are unknown to the tokenizer (token {unknown})")
    return found


def read_text(path: str | Path) -> str:
    """A text file. Raises: OSError; ValueError for an empty one, what is not UTF-8, and as `read_bytes`."""
    try:
        text = read_bytes(path, LARGEST).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 ({error.reason} at byte {error.start})") from None
    if not text.strip():
        raise ValueError(f"{path}: the text is empty")
    return text


def tokens_of(model: nn.Module, folder: str | Path, text: str) -> Tokens:
    """The tokens of a text: by the model's tokenizer.json without special tokens, of a model of ours its bytes.

    Bytes beyond ASCII are "?", as in `dynamics.tasks.corpus`. Raises: ValueError for a model of ours with a vocabulary
    below 128, and where there is no tokenizer, or it cannot be read.
    """
    if isinstance(model, InductionModel):
        if model.config.vocab < ASCII:
            raise ValueError(f"bytes need a vocabulary of {ASCII}, the model has {model.config.vocab}: give tokens")
        found = np.frombuffer(text.encode("utf-8"), np.uint8)
        return np.where(found < ASCII, found, ord("?")).astype(np.int64)
    if not (Path(folder) / _TOKENIZER).is_file():
        raise ValueError(f"{folder}: {_TOKENIZER} is missing: give tokens, not a text")
    return np.asarray(_tokenizer(folder)(text, add_special_tokens=False)["input_ids"], np.int64)


def _tokenizer(folder: str | Path) -> Any:
    """As tokenizer_config.json says; without one tokenizer.json alone, for transformers would guess by the model."""
    import transformers

    transformers.utils.logging.set_verbosity_error()
    folder = Path(folder)
    try:
        if (folder / "tokenizer_config.json").is_file():
            return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        return transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / _TOKENIZER))
    except Exception as error:  # tokenizers raises Exception itself for a file that is none
        reason = " ".join(str(error).split())
        raise ValueError(f"{folder}: no tokenizer can be read ({type(error).__name__}: {reason[:300]})") from None


def _unknown(tokenizer: Any) -> int | None:
    """The unknown token by the tokenizer's config, else by tokenizer.json."""
    if tokenizer.unk_token_id is not None:
        return tokenizer.unk_token_id
    told = json.loads(tokenizer.backend_tokenizer.to_str())["model"].get("unk_token")
    return None if told is None else tokenizer.backend_tokenizer.token_to_id(told)


def read_tokens(path: str | Path) -> Tokens:
    """Token ids from a .npy file of whole numbers in one row, or from a text of them with spaces between.

    Raises: OSError; ValueError of one line for anything else, pickled objects among it.
    """
    path = Path(path)
    if path.suffix == ".npy":
        return _array(path, 1)
    words = read_text(path).split()
    wrong = [word for word in words if not (word.isascii() and word.isdigit()) or len(word) > 9]
    if wrong:
        raise ValueError(f"{path}: {wrong[0][:40]!r} is not the number of a token")
    return np.array(words, dtype=np.int64)


def _array(path: Path, axes: int) -> Tokens:
    try:
        found = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"{path}: not an array of numbers ({' '.join(str(error).split())})") from None
    if not isinstance(found, np.ndarray) or found.ndim != axes or found.dtype.kind not in "iu" or not found.size:
        wanted = "in one row" if axes == 1 else "in rows, a record each"
        raise ValueError(f"{path}: tokens are whole numbers {wanted}, at least one")
    return found.astype(np.int64)
