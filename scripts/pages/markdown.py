"""Plain text as Markdown that renders to it."""

import re


def escaped(text: str) -> str:
    """The text as Markdown shows it: what would be markup is escaped, except inside backticks."""
    parts = text.replace("\n", " ").split("`")
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"([\\*_<>\[\]#|~$])", r"\\\1", parts[index])
    return "`".join(part.replace("|", "\\|") if index % 2 else part for index, part in enumerate(parts))


CLAIM_ID = re.compile(r"\b(?:kv1?|razor|resformer|waiver)\.[\w.*{},]*[\w*}]")


def markdown_text(text: str) -> str:
    """Markdown that renders to this text: claim ids and patterns of them as code, the rest escaped."""
    return escaped(CLAIM_ID.sub(r"`\g<0>`", text))


def closed(text: str) -> str:
    """The text with one full stop behind it."""
    return text.removesuffix(".") + "."


def between(text: str, marks: tuple[str, str], lines: list[str]) -> str:
    """The text with these lines between its two marks. Raises: ValueError where it has lost a mark."""
    if any(mark not in text for mark in marks):
        raise ValueError(f"a page has lost the marks {marks[0]} and {marks[1]} around what is generated")
    head, rest = text.split(marks[0], 1)
    return head + marks[0] + "\n" + "\n".join(lines) + "\n" + marks[1] + rest.split(marks[1], 1)[1]
