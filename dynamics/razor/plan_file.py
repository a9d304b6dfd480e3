"""A `RazorPlan` as a JSON file that other runtimes can read: docs/receipts.md says what each field means."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from dynamics.files.atomic import atomic_write_text
from dynamics.files.bounded import read_bytes
from dynamics.files.manifest import Strict
from dynamics.files.strict_json import parse_object
from dynamics.razor.plan import Compensation, RazorPlan

FORMAT, VERSION = "razor-plan", 1
LARGEST = 16 << 20  # bytes
Count = Annotated[int, Field(ge=0, le=2**53)]
Size = Annotated[int, Field(ge=1, le=2**53)]


class PlanFile(Strict):
    """The fields of the file. share is [numerator, denominator]; full lists key-value heads, layer by layer."""

    format: Literal["razor-plan"] = FORMAT
    version: Literal[1] = VERSION
    n_heads: Size
    n_kv_heads: Size
    full: list[list[Count]]
    sinks: Count
    buffer: Size
    share: Annotated[list[Count], Field(min_length=2, max_length=2)]
    compensation: Compensation
    prompt: Count
    centre_queries: Size


def plan_text(plan: RazorPlan) -> str:
    """The plan as JSON, one field a line."""
    record = PlanFile(
        n_heads=plan.n_heads,
        n_kv_heads=plan.n_kv_heads,
        full=[sorted(int(head) for head in heads) for heads in plan.full],
        sinks=plan.sinks,
        buffer=plan.buffer,
        share=list(Fraction(plan.share).as_integer_ratio()),
        compensation=plan.compensation,
        prompt=plan.prompt,
        centre_queries=plan.centre_queries,
    )
    lines = [f'  "{name}": {_compact(record, name)}' for name in PlanFile.model_fields]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_plan(path: str | Path, plan: RazorPlan) -> None:
    """Write the file, whole or not at all. Raises: as `files.atomic`."""
    atomic_write_text(path, plan_text(plan))


def read_plan(path: str | Path) -> RazorPlan:
    """Read such a file. Raises: OSError; ValueError of one line that names the file, the field and the value."""
    return parse_plan(read_bytes(path, LARGEST), str(path))


def parse_plan(data: bytes, what: str = "plan") -> RazorPlan:
    """The plan of these bytes. Raises: ValueError of one line that begins with `what`."""
    given = parse_object(data, what)  # no key stands twice
    if (kind := (given.get("format"), given.get("version"))) != (FORMAT, VERSION):
        raise ValueError(f"{what}: format and version are {kind}, not {(FORMAT, VERSION)}: such a plan is written by "
                         "`receipt MODEL --text FILE --error X --write-plan PLAN`")  # fmt: skip
    found = PlanFile.parsed(data, what)
    numerator, denominator = found.share
    if not denominator:
        raise ValueError(f"{what}: share: the denominator must not be 0 (got {found.share})")
    for layer, heads in enumerate(found.full):
        if len(set(heads)) < len(heads):
            raise ValueError(f"{what}: full.{layer}: a head stands twice (got {heads})")
    settings = found.model_dump(exclude={"format", "version", "full", "share"})
    try:
        return RazorPlan(full=tuple(frozenset(heads) for heads in found.full), share=Fraction(numerator, denominator),
                         **settings)  # fmt: skip
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None


def _compact(record: PlanFile, name: str) -> str:
    """One field as JSON, on one line."""
    inside = record.model_dump_json(include={name})
    return inside.split(":", 1)[1][:-1]
