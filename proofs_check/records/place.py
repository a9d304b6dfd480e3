"""Where a record stands, looked up in the list of places that its paper has."""

from proofs_check.ledger.paper import Paper
from proofs_check.ledger.place import BOTH, Place


def place(id: str, at: str) -> Place:
    """The place of a record. Raises: ValueError for a paper that is not installed, and as `Paper.place`."""
    return _paper(id).place(at)


def source(id: str, at: str) -> str:
    """The paper, its version or that it is both, and the place, as they are printed. Raises: ValueError as `place`."""
    paper, text = _paper(id), place(id, at).text
    version = BOTH if BOTH in text else f"({paper.version})" if paper.version else ""
    return f"{f'{paper.name} {version}'.rstrip()}, {text.replace(f' {BOTH}', '')}"


def versions(id: str, at: str) -> list[Paper]:
    """The records of the versions that have the sentence. Raises: ValueError as `place`."""
    paper = _paper(id)
    return [paper, *([paper.first] if place(id, at).first and paper.first else [])]


def _paper(id: str) -> Paper:
    from proofs_check.ledger.registry import installed  # which reads the records

    paper = installed().get(id.split(".")[0])
    if paper is None:
        raise ValueError(f"{id} belongs to no paper that is installed")
    return paper
