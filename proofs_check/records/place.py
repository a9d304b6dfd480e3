"""Where a record stands, looked up in the list of places that its paper has."""

from proofs_check.ledger.paper import Paper
from proofs_check.ledger.place import Place


def place(id: str, at: str) -> Place:
    """The place of a record. Raises: ValueError for a paper that is not installed, and as `Paper.place`."""
    return _paper(id).place(at)


def source(id: str, at: str) -> str:
    """The paper's short name, its version unless the place names more than one, and the place."""
    paper = _paper(id)
    named = paper.version and "version" not in paper.place(at).text
    return f"{paper.short}{f' ({paper.version})' if named else ''}, {at}"


def _paper(id: str) -> Paper:
    from proofs_check.ledger.registry import installed  # which reads the records

    paper = installed().get(id.split(".")[0])
    if paper is None:
        raise ValueError(f"{id} belongs to no paper that is installed")
    return paper
