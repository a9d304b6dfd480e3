"""Where a shift must stand so that one layer without positions is an induction head: the theorem of theory.induction.

One softmax head over all places, no position code and no residual; M = W_Q W_K^T and N = W_V W_O are any V x V
matrices.
"""

from proofs_check.ledger.claim import Claim
from proofs_check.ledger.mathematical import mathematical

SOURCE = "KV shifting (both versions), Section 3.1, our addition"
SENTENCE = "the last token occurs exactly once before, at p <= L - 2, other tokens as they like; x_0 = 0"
RATIOS = "r = k0/k1, s = q1/q0, u = v1/v0, M = c/(q0 k1) I, N = I/v0"


def _ours(id: str, statement: str, formula: str, *hypotheses: str, note: str = "") -> Claim:
    return mathematical(id, SOURCE, statement, formula=formula, hypotheses=hypotheses, note=note, is_correction=True)


CLAIMS: tuple[Claim, ...] = (
    _ours(
        "kv.beyond.family.gap",
        "With M a multiple of the identity the place p + 1 scores above every other place by min(1, 1 + rs) - max(0, "
        "r, s, r + s, rs, rs + s) at least, whatever the sentence and its length.",
        r"\mathrm{score}_{p+1}-\mathrm{score}_t\ge\min(1,1+rs)-\max(0,r,s,r+s,rs,rs+s)",
        SENTENCE,
        f"{RATIOS}, c = 1",
    ),
    _ours(
        "kv.beyond.family.attention",
        "With g that gap and a scale c >= 0 at most (L - 1)/(L - 1 + e^{cg}) of the attention is off p + 1: where "
        "g > 0 it tends to 0 as c grows.",
        r"1-a_{p+1}\le\frac{L-1}{L-1+e^{cg}}",
        SENTENCE,
        RATIOS,
    ),
    _ours(
        "kv.beyond.family.right",
        "Such a head is right on every sentence of L tokens where min(1, 1 - u) e^{cg} > (L - 1)(1 + |u|): so a shift "
        "with g > 0 and u < 1 implements induction at every length, by a scale c that grows with log L.",
        r"\min(1,1-u)\,e^{cg}>(L-1)(1+|u|)\ \Rightarrow\ o_j<o_{x_{p+1}}",
        SENTENCE,
        RATIOS,
        note="At p + 1 the target leads any other token by min(1, 1 - u) or more, at any other place it trails by "
        "1 + |u| at most. The left side is positive and grows with c where u < 1 and g > 0; a scale that does for L "
        "does for less.",
    ),
    _ours(
        "kv.beyond.family.necessary",
        "If some M, of any vocabulary of three or more tokens, gives p + 1 the highest score on c c b b c a c b a and "
        "on c c b b c a b b a under all six renamings of the letters, then q0 and k1 are not 0 and g > 0.",
        r"q_0k_1\ne0,\ \max(0,r,s,r+s,rs,rs+s)<\min(1,1+rs)",
        "places from the second on",
        note="The mean of M over the renamings is lambda I + mu J, and for that one these are the inequalities.",
    ),
    _ours(
        "kv.beyond.family.decodes",
        "If v0 N_b + v1 N_a has its largest entry at b for any two of three tokens a and b, whatever N, then v0 is not "
        "0 and v1/v0 < 1.",
        r"v_0\ne0,\ \min(1,1-v_1/v_0)>0",
        note="So with kv.beyond.family.necessary and kv.beyond.family.right: fixed M and N concentrate as their scale "
        "grows exactly where g > 0 and v1/v0 < 1.",
    ),
    _ours(
        "kv.beyond.family.swapped",
        "Where keys and values are not shifted the output at the end of a b c a and of b a c a is the same, whatever "
        "M, N and the query's kernel: a head is not right on both.",
        r"o(abca)=o(baca)",
        "k1 = v1 = 0",
        "V >= 3",
    ),
    _ours(
        "kv.beyond.family.after",
        "Where queries are not shifted either, the outputs at the last four places of a b c c c a and of b a c c c a "
        "are the same: nothing that mixes an output with up to three before it can tell the two apart.",
        r"o_t(abccca)=o_t(baccca),\ t=3,4,5,6",
        "q1 = k1 = v1 = 0",
        "V >= 3",
        note="An output kernel, Canon C and Canon D (window 4) read these outputs and nothing else, for there is no "
        "residual; with more c between, any window.",
    ),
    _ours(
        "kv.beyond.family.unseen",
        "Where the own token has coefficient 0 in query, key and value, x_L is nowhere seen: a b c a and a b c b have "
        "one output, and a head is not right on both.",
        r"o(abca)=o(abcb)",
        "q0 = k0 = v0 = 0",
        "V >= 3",
    ),
    _ours(
        "kv.beyond.family.middle.difference",
        "Where keys are not shifted the outputs on q b u c b q and q c b u b q differ by v1 (P_b - P_c)(N_q - N_u)/Z, "
        "P = e^score, whatever the weights.",
        r"o(qbucbq)-o(qcbubq)=\frac{v_1(P_b-P_c)(N_q-N_u)}{Z}",
        "k1 = 0",
        "V >= 4",
    ),
    _ours(
        "kv.beyond.family.middle",
        "Where keys are not shifted no M and N are right on q b u c b q and q c b u b q for all q and u among three "
        "tokens, whatever the kernels of queries and values.",
        r"v_1(P_b-P_c)(D_q-D_u)>0,\ D=N_b-N_c",
        "k1 = 0",
        "V >= 5",
        note="Of three numbers D one lies between the others, and for that q no sign of v1 (P_b - P_c) will do.",
    ),
    _ours(
        "kv.beyond.family.only_key",
        "Where keys alone are shifted, r = k0/k1 >= 1, no M and N are right on y z w z y, y z w w y, y z z y and y z y "
        "for all names y, z, w of three tokens.",
        r"r\ge1",
        "q1 = v1 = 0",
        "k1 not 0: it is a factor of M, as q0 is, and v0 one of N",
        "V >= 3",
        note="For r < 1 kv.beyond.family.right has weights, with s = u = 0 and g = 1 - max(0, r): keys alone implement "
        "induction exactly where k1 is not 0 and r < 1.",
    ),
    _ours(
        "kv.beyond.family.unasked",
        "Where queries do not read their own token no M and N are right on a b d c b a, a b d c b d, a c d b b a and "
        "a c d b b d, whatever the kernels of keys and values.",
        r"w_aD_a>-f_1>w_dD_d>-f_2>w_aD_a",
        "q0 = 0",
        "V >= 4",
        note="f is what the places before the last give b over c, w the last place's weight, D what its value gives b "
        "over c: f does not hang on the last token, w and D hang on the last two alone.",
    ),
    _ours(
        "kv.beyond.family.alike.smear",
        "Where all read x_t + c x_{t-1} no weights that treat all names alike are right on h q b u u z q and on "
        "h q b u z q: on the second b does not lead a token that does not occur, or not z, or on the first not u.",
        r"M=\lambda I+\mu J,\ N=\nu I+\kappa J",
        "J all ones: these are the matrices that keep under every renaming of tokens",
        "V >= 6",
        note="Up to what all entries share they are, over the denominator, nu (P^c + c) for b, 0 for what does not "
        "occur, nu (2 + c + c P^c) for u, nu (P^c + c P^{1 + c^2}) for z, P = e^lambda.",
    ),
    _ours(
        "kv.beyond.family.alike.query_key",
        "Where queries and keys read k0 x_t + k1 x_{t-1}, values x_t, weights that treat all names alike give b and z "
        "one entry on h q b u z q, whose target is b.",
        r"o_b(hqbuzq)=o_z(hqbuzq)",
        "M = lambda I + mu J, N = nu I + kappa J, J all ones: they keep under every renaming of tokens",
        "V >= 5",
        note="b holds the query's last token before it, z is the query's token before: k0 k1 lambda either way.",
    ),
)
