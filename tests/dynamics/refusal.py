"""How a test says that a call is refused: by a ValueError of one line that has these words."""

import json

import pytest


def refused(words, call, /, *arguments, **options):
    with pytest.raises(ValueError, match=words) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)


def done(act):
    """The call of rows that say in full what is done."""
    act()


def rows(table):
    """(words, bad value) of a table by words, where a list holds several values."""
    return [(words, one) for words, given in table.items() for one in (given if type(given) is list else [given])]


def flip(path, place=None, bit=1):
    """Change a bit of a file, in its middle or at a place."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if place is None else place] ^= bit
    path.write_bytes(data)


def damages(table):
    """The rows of a text, "kind | where=what | words": of which file what is changed how, and what is said of it."""
    return pytest.mark.parametrize(("kind", "change", "words"), [row.split(" | ") for row in table.split("\n")[1:-1]])


def changed(record, change):
    """Put a value, as JSON, into a record, "a/0/b=value", or take what is there out of it, "a/0/b=gone"."""
    where, _, what = change.partition("=")
    *way, last = [int(part) if part.isdecimal() else part for part in where.split("/")]
    for part in way:
        record = record[part]
    if what == "gone":
        del record[last]
    else:
        record[last] = json.loads(what)
