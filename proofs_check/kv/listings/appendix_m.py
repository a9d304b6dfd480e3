"""Appendix M of the KV-shifting paper (first version: Appendix F): the training listing, part by part."""

from itertools import product

from proofs_check.kv.listings import appendix_m_checks as listed
from proofs_check.records import quoted, runs

AT = "Appendix M (first version: Appendix F)"
WINDOWS = tuple({"length": length, "window": window} for length, window in product((1, 2, 3, 5), (1, 2, 3, 4)))
# The four slips of the module as each is mended.
IMPORT, INIT, NAME, RETURN = ({"imports_torch": True}, {"calls_super": True}, {"spelled": "forward"}, {"returns": True})
MODULE = IMPORT | INIT | NAME | RETURN

CLAIMS = (
    runs("kv.appM.convolution", AT, listed.convolved, listed.mixed, WINDOWS, broken=[{"first": "newest"}],
         why="So the last column multiplies the token itself."),
    runs("kv.appM.unfold_shape", AT, listed.unfolded, listed.windows, WINDOWS, mend={"extra": 0}),
    runs("kv.appM.result_shape", AT, listed.result, listed.tokens, WINDOWS, broken=[{"extra": 1}]),
    runs("kv.appM.shapes", AT, listed.inner, listed.three, WINDOWS, broken=[{"padded": 0}]),
    runs("kv.appM.import", AT, listed.called, "a tensor", [INIT | NAME | RETURN], mend=IMPORT),
    runs("kv.appM.init", AT, listed.called, "a tensor", [MODULE], broken=[{"calls_super": False}], reading="excerpt"),
    runs("kv.appM.forward", AT, listed.called, "a tensor", [IMPORT | INIT | RETURN], mend=NAME),
    runs("kv.appM.return", AT, listed.called, "a tensor", [MODULE], broken=[{"returns": False}], reading="excerpt",
         why="W_o is left to the caller."),
    *quoted(__file__),
)
