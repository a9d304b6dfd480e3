"""Notebooks from the scripts in examples/notebooks: as .ipynb, run, and as a fragment of a page.

A script is in the percent format (`# %%` and `# %% [markdown]`); a cell that draws says what it shows in the first line
as `# %% alt="..."`. The notebook with its outputs is kept beside the script, with the hash of its text; long tests
run it again. It takes the extra [docs].
"""

import base64
import hashlib
import os
import re
import subprocess
import tempfile
from html import escape
from pathlib import Path

import jupytext
import nbformat
from jupytext.formats import guess_format
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from nbclient import NotebookClient
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from dynamics.files.atomic import atomic_write_text

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "notebooks"
KERNEL = "python3"
SECONDS = 180  # the longest that a notebook may take
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")


def sources() -> list[Path]:
    """The scripts, by name. Raises ValueError where there are none, as in an installed package."""
    found = sorted(FOLDER.glob("*.py"))
    if not found:
        raise ValueError(f"no notebooks in {FOLDER}: they are in a checkout, not in the package")
    return found


def notebook(path: str | Path) -> NotebookNode:
    """The script as a notebook without outputs: the same bytes each time, the cells numbered from 1.

    Raises: OSError; ValueError for a script that is not in the percent format.
    """
    text = Path(path).read_text("utf-8")
    if guess_format(text, ".py")[0] != "percent":
        raise ValueError(f"{path}: not a notebook in the percent format")
    read = jupytext.reads(text, fmt="py:percent")
    cells = [_plain(cell, number) for number, cell in enumerate(read.cells, start=1)]
    kernel = {"display_name": "Python 3", "language": "python", "name": KERNEL}
    made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})
    nbformat.validate(made)
    return made


def _plain(cell: NotebookNode, number: int) -> NotebookNode:
    told = {"alt": cell.metadata["alt"]} if "alt" in cell.metadata else {}
    new = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}[cell.cell_type]
    return new(cell.source, metadata=told, id=f"cell-{number:03}")


def executed(path: str | Path) -> NotebookNode:
    """The notebook with its outputs, run by a new kernel with one thread in an empty folder that goes afterwards.

    Raises: as `notebook`; nbclient's CellExecutionError or CellTimeoutError for a cell that fails or runs on.
    """
    made = notebook(path)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as settings:
        client = NotebookClient(
            made, timeout=SECONDS, kernel_name=KERNEL, record_timing=False,
            resources={"metadata": {"path": folder}},
        )  # fmt: skip
        # No settings and no history of whoever runs it.
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        # What the kernel itself says goes nowhere; what cells say is among their outputs.
        client.execute(env=os.environ | one | {"IPYTHONDIR": settings}, stderr=subprocess.DEVNULL)
    return made


def stored(path: Path) -> NotebookNode | None:
    """The notebook with outputs that lies beside the script, None where it was made from another text."""
    kept = path.with_suffix(".ipynb")
    if not kept.is_file():
        return None
    node = nbformat.read(kept, 4)
    return node if node.metadata.get("script") == _digest(path) else None


def store(path: Path) -> None:
    """Run the script and keep the notebook beside it. Raises: as `executed`."""
    node = executed(path)
    node.metadata["script"] = _digest(path)
    atomic_write_text(path.with_suffix(".ipynb"), nbformat.writes(node) + "\n")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def heading(node: NotebookNode) -> tuple[str, str]:
    """The title of a notebook and its first paragraph, in plain words."""
    title, _, rest = node.cells[0].source.partition("\n")
    return title.removeprefix("# "), rest.strip().split("\n\n")[0].replace("\n", " ")


def body(node: NotebookNode) -> str:
    """The cells as HTML, code with the classes of pygments; a function of the notebook alone.

    Raises: ValueError for an output that is an error, a warning (anything on stderr) or HTML, and for an image whose
    cell does not say in words what it shows.
    """
    return "".join(_markdown(cell) if cell.cell_type == "markdown" else _code(cell) for cell in node.cells)


def _markdown(cell: NotebookNode) -> str:
    """Formulas between dollar signs become MathML; they are kept out of the way of Markdown meanwhile."""
    formulas: list[str] = []

    def kept(match: re.Match) -> str:
        formulas.append(convert(match[1]))
        return f"\ue000{len(formulas) - 1}\ue001"

    text = MARKDOWN.render(re.sub(r"\$([^$\n]+)\$", kept, cell.source))
    text = re.sub("\ue000(\\d+)\ue001", lambda match: formulas[int(match[1])], text)
    return f'<div class="text">\n{text}</div>\n'


def _code(cell: NotebookNode) -> str:
    code = highlight(cell.source, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n")
    shown = "".join(_output(output, cell) for output in cell.outputs)
    return f'<pre class="highlight" tabindex="0"><code>{code}</code></pre>\n{shown}'


def _output(output: NotebookNode, cell: NotebookNode) -> str:
    kind = output.output_type
    if kind == "stream" and output.name == "stdout":
        return _text(output.text)
    if kind not in ("display_data", "execute_result"):
        raise ValueError(f"{cell.id}: {output.get('name', kind)} is no output to show")
    data = output.data
    if "text/html" in data:
        raise ValueError(f"{cell.id}: HTML is refused as an output")
    if "image/png" in data:
        return _image(data["image/png"], cell)
    if "text/plain" not in data:
        raise ValueError(f"{cell.id}: an output is neither text nor an image: {', '.join(data)}")
    return _text(data["text/plain"])


def _text(text: str) -> str:
    return f'<pre class="output" tabindex="0">{escape(text.rstrip())}</pre>\n'


def _image(data: str, cell: NotebookNode) -> str:
    if not cell.metadata.get("alt"):
        raise ValueError(f'{cell.id}: an image needs its words, as # %% alt="..."')
    if not _BASE64.fullmatch(data) or not base64.b64decode(data).startswith(b"\x89PNG"):
        raise ValueError(f"{cell.id}: an image is no PNG")
    return f'<img alt="{escape(cell.metadata["alt"])}" src="data:image/png;base64,{"".join(data.split())}">\n'
