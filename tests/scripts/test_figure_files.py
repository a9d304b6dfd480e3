"""The command of each figure leaves a picture in two formats and its data; drawn again, the same bytes."""

import pytest

from scripts.commands import table
from tests.scripts.commands import drawn

# what its data are computed from: less than the command would take. Figures that need seconds are drawn by their tests.
GIVEN = {
    "compare": (),
    "landscape": ((4, 12), 31),
    "scope_bounds": (6,),
    "sink_layers": (1,),
    "sink_reach": (15,),
    "truncation": (1,),
    "value_residual": (15,),
    "waiver_token": (15,),
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_figure_leaves_its_files(name, tmp_path):
    drawn(tmp_path, f"fig_{name}", "--quick", data=table.module(f"figure {name}").compute(*GIVEN[name]))
