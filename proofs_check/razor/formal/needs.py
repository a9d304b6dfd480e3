"""What a proof of the RazorAttention paper's statements rests on, where it takes more than arithmetic."""

NEEDS: dict[str, str] = {
    "razor.thm1.corrected": "1/weight is a sum: own term >= e^{lk - gap}, those between >= e^{l(j - n + k) - D} "
    "(termwise), older ones dropped; close both geometric sums (telescope), no sum is turned round; the scope by exp.",
    "razor.thm1.iff": "=>: own and target terms alone, weight <= e^{size kappa - l(n - j)} <= eps; <=: w.(y - x) = c "
    "|x - y|^2/kappa, |x| |w| = c, and weight > eps comes down to e^{-1} < 1.",
    "razor.thm1.one_size": "Cauchy-Schwarz for free d: |x| <= r + |b| and |x - y| <= 2 r, from sum z^2 = d; both "
    "reached where z lies along b; then |b| (r - |b|) <= 0.",
    "razor.sec3.1.discard.corrected": "Near terms >= e^{a - l dist}, far ones <= e^{a + D - l dist}, both sums "
    "geometric; x/(x + y) is monotone; approach: e^{-lt} (1 + l t) <= 1, and n <= w apart.",
    "razor.sec3.1.form": "razor.sec3.1.discard.corrected (finite n: strictly below) with e^{lw} >= e^D/eps.",
    "razor.sec3.1.discard": "A cutoff that is no whole number: induction on the number of tokens for S_n = sum of "
    "e^{-lt} (t <= L) and -A e^{-lt} (t > L), A = e^D (1/eps - 1): (1 - q) S_n = 1 - q^n up to L, then >= 1 - e^{-lL} "
    "- A (e^{-lL} - q^n).",
    "razor.sec3.1.sinks": "Four geometric sums; the gap is at most e^D q^{n - u}/(1 - q^n), and q^t (1 + l t) <= 1; "
    "n < u + w apart.",
    "razor.sec3.2.no_decay": "Termwise e^{s_j - s_t} >= e^{-D}, k of them; the kept mass is at most w e^D/n.",
    "razor.sec3.2.flat_mass": "Termwise e^{s} <= e^{a + D} and e^{t} >= e^a, x/(x + y) monotone.",
    "razor.sec3.1.output_attained": "The identity of razor.sec3.1.output, then |sum p_j r_k (v_j - w_k)|^2 <= max "
    "|v_j - w_k|^2 (Cauchy-Schwarz with weights), and the mass for a finite number of tokens by geometric sums.",
    "razor.sec3.1.budget": "Simple: ln y <= y - 1 at y = x_h/best_h, termwise, strict off best. Sharp: W_h(y) >= "
    "W_h(x) - (y - x)/(l x (1 - a x)) on (0, 1/2], convex there, and the prices make the sum of the right sides.",
    "razor.eq5.under": "Double sums change order (induction), so q.khat is the mean logit x'; e^{x - x'} >= 1 + x - "
    "x' termwise, strict where x is not x'.",
    "razor.eq5.exact": "razor.eq5.under, strict, for the query k_a - k_b, whose logits on a and b differ by "
    "|k_a - k_b|^2.",
    "razor.eq5.log_mass": "Chord: e^{s - a} <= 1 + (s - a) E/r termwise, E = e^r - 1; then the tangent ln x <= x - 1 "
    "at x = (1 + p E) r/E, p the mean share, gives Lambda at once.",
    "razor.eq5.log_mass.sharp": "razor.eq5.log_mass; below: ln x >= 1 - 1/x at the same x, |x - 1| <= r/n, 1 + p E "
    ">= 1.",
    "razor.eq5.gaps": "Masses: (Z_K - sqrt(Z Zhat))^2 >= 0, then razor.eq5.log_mass and tanh increasing. Means: along "
    "any direction the set of p_j > 1/n has a likelihood ratio <= e^r against the rest, so its shares differ by "
    "tanh(r/4) at most; Cauchy-Schwarz.",
    "razor.sec1.proved.pointwise": "|p - 1/2| < 1/2; approach: tanh(1/u) >= 1 - u and 2/(2 + m u) >= 1 - m u/2.",
    "razor.sec1.proved.corrected": "Sum over coordinates of a rational identity; half way: 2 x y >= -x^2/2 - 2 y^2 "
    "termwise and That <= T (razor.eq5.under).",
    "razor.eq7.corrected": "(g z + b)^2 <= (g^2 + b^2)(z^2 + 1); z_i^2 <= d as one term of a sum, in LayerNorm <= d "
    "- 1 by Cauchy-Schwarz for the others, whose sum is -z_i.",
}
