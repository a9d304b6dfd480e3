"""The manifest beside every trained model: what made it, how well it did, and the hash of its weights."""

from collections.abc import Mapping, Sized
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, ValidationError

from dynamics.files.atomic import atomic_write_text

Scalar = bool | int | float | str | None
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Several = Annotated[int, Field(ge=2)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Fraction01 = Annotated[float, Field(ge=0, le=1)]
Share = Annotated[float, Field(gt=0, le=1)]
Open01 = Annotated[float, Field(gt=0, lt=1)]
Decay = Annotated[float, Field(ge=0, le=10)]  # of weights
Loss = NonNegativeFloat | None  # None where it is not finite


class Strict(BaseModel):
    """A frozen record that refuses unknown keys, infinities and NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic's, with the fields checked by name only. Raises: ValueError for a field that there is not."""
        for name in update or ():
            if name not in type(self).model_fields:
                raise ValueError(f"{type(self).__name__} has no field {name!r}")
        return super().model_copy(update=update, deep=deep)

    def but(self, **changes: Any) -> Self:
        """A copy with these values of its fields, as model_copy. Raises: ValueError for a field that there is not."""
        return self.model_copy(update=changes)

    @classmethod
    def checked(cls, data: object, what: str | None = None) -> Self:
        """Validate data; a mistake becomes a ValueError of one plain line: what (or the class), field and value."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise ValueError(plain_line(what or cls.__name__, error)) from None

    @classmethod
    def parsed(cls, data: bytes, what: str) -> Self:
        """Parse JSON; anything else, or a mistake in it, becomes a ValueError of one plain line that names what."""
        try:
            return cls.model_validate_json(data)
        except ValidationError as error:
            raise ValueError(plain_line(what, error)) from None

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Parse a file. Raises: OSError where it cannot be read; ValueError as `parsed`, naming the path."""
        return cls.parsed(Path(path).read_bytes(), str(path))


def plain_line(what: str, error: ValidationError) -> str:
    """Name the first mistake of a pydantic error, its field and its value, in one line."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the whole record"
    value = " ".join(repr(first["input"]).split())
    message = " ".join(first["msg"].split())
    if first["type"] == "value_error":  # of our own wording, which names the value
        return f"{what}: {place}: {message.removeprefix('Value error, ')}"
    return f"{what}: {place}: {message} (got {value if len(value) <= 60 else value[:57] + '...'})"


def counted(wanted: int, **lists: Sized) -> None:
    """Raises: ValueError, one line, for a list that does not have as many entries as wanted."""
    for name, found in lists.items():
        if len(found) != wanted:
            raise ValueError(f"{name}: {len(found)} where there must be {wanted}")


class Manifest(Strict):
    """Everything needed to repeat a training run and to recognise its weights."""

    version: str
    torch_version: str
    seed: Count
    threads: Positive
    device: str
    dtype: Literal["float32", "float16"]
    config: dict[str, Scalar | dict[str, Scalar | list[int] | tuple[int, ...]] | list[dict] | tuple[dict, ...]]
    training: dict[str, Scalar | dict[str, Scalar]]
    metrics: dict[str, float | int]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


def package_version() -> str:
    """Return the installed version of this workbench."""
    return version("induction-workbench")


def read(path: str | Path) -> Manifest:
    """Read a manifest.

    Raises:
        OSError: no such file. ValueError: not JSON, an unknown or missing key, a value out of range; one plain line.
    """
    return Manifest.from_file(path)


def write(path: str | Path, manifest: Manifest) -> None:
    """Write a manifest atomically, one key a line."""
    atomic_write_text(path, manifest.model_dump_json(indent=2) + "\n")
