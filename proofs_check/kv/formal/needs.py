"""What a proof of the KV-shifting paper's statements needs beyond following definitions and exact arithmetic."""

_SPLIT = "split the sums over places at r = i, i + 1, T + 1: scores a1, a2, a1, else 0, so the weights add up to S"
_SMALL = "e^{-x} <= 1/x for x > 0, term by term"
NEEDS: dict[str, str] = {
    "kv.thm3.2": "kv.thm3.2.sharp on [-1, 1]^d, then 2 tanh(z) <= 2 z < 4 z/(1 - r), z = d r / sigma, r = e^{-p}",
    "kv.thm3.2.sharp": "layer 1 misses x_{s-1} by (r - r^{s-1})/(1 - r^{s-1}) < r (geometric sum); |x_L.(mean - "
    "x_{s-1})| <= d, 2d, 2 (Cauchy-Schwarz); kv.appA.step2.sharp; a mean moves by total variation times the "
    "coordinate's range",
    "kv.thm3.2.repaired": "weights of the key: r^{s-1}(1 - r)/(1 - r^s) on x_s, (1 - r)/(1 - r^s) > 1 - r on "
    "x_{s-1}, all >= 0 with sum 1; then as kv.thm3.2.sharp",
    "kv.thm3.2.attained": "scores of tokens 3, 4 differ by +-c (unit) or +-2c up to 2 c u or 4 c u, token 2 weighs "
    "at most e^{-2m}; tanh has slope <= 1, e^{-x} <= 1/x",
    "kv.thm3.2.eight": "tanh z <= z for z >= 0 at z = d r/(2 sigma), and 1/(1 - r) >= 1",
    "kv.eq8.domain.unbounded": "error is linear in c; its factor is > 0: score 3 gains kappa r/(1 + r), the others "
    "none; 1/(1 + r) < 1",
    "kv.appA.step2.sharp": "with R = e^{max - min}: odds of any set of places change by at most R (sum of p_i p_j (R "
    "t_j - t_i) >= 0); two blocks: slack h (1 + h)(B - 1)^2/(..) >= 0, e^{w/2} = 1 + h; tanh x <= x; tanh x > x (1 - "
    "x^2) for c",
    "kv.appA.step4": "sums of terms |x_k| <= 1; the double sum keeps the diagonal",
    "kv.appA.step6.sharp": "geometric sum by induction on s; slack r^{s-1}(1 - r)/(1 - r^{s-1}) in (0, r^{s-1}]; "
    "e^{-x} <= 1/x",
    "kv.appA.step7.uniform": "cases c > 1 (e^{-p} = 1 - 1/c, so 4c > c) and c <= 1 (4/(1 - 1/e) > 4)",
    "kv.thm3.3.corrected": "score and value agree place by place on 2..L-1, where x_{s-1} is never the padding",
    "kv.thm3.3.discrepancy": "split the sum over 1..L into {1, L} and 2..L-1; score 1 is -m(L-1) as x_0 = 0",
    "kv.thm3.3.discrepancy.range": "kv.thm3.3.discrepancy; v and IH are means, so both lie between min and max over "
    "places",
    "kv.thm3.3.discrepancy.matched": "a <= 2 (x_{L-1} is no match) and Z is at least its term s = i + 1: eps <= a/Z",
    "kv.thm3.3.discrepancy.ball": "Cauchy-Schwarz for each product; a/(a + Z) rises in a and falls in Z; reverse the "
    "sum (j = L - s); the second part is exact",
    "kv.thm3.3.discrepancy.long": "geometric sum; gap = q^{L-1}(Z_oo + 1/(1-q))/((a + Z)(E + Z_oo)) with q = e^{-m}; "
    "q^{L-1} <= 1/(m(L-1)), 1/(1-q) <= 1 + 1/m",
    "kv.sec3.1.any_context.corrected": "each of the L - 3 other weights over that of i + 1 is at most the maximum: "
    "places before i - gap by the distance, the others by 1/sigma",
    "kv.eq10.corrected": f"{_SPLIT}; tokens in classes j = i - 1, i, i + 1, T and T - 4 others; log of a product",
    "kv.appC.every_position": f"{_SPLIT} (i = T: at T, T + 1); then r = j and r = j + 1 in the numerator, case by case",
    "kv.thm3.4.minimum.corrected": f"kv.eq10.corrected; log(1 + x) > 0 and <= x; {_SMALL}",
    "kv.beyond.sign_rule": f"{_SPLIT}; token j has logit (b1 + b2)/S; e^x - 1 has the sign of x",
    "kv.beyond.temperature.half": f"{_SPLIT}: weight e^gamma/(e^gamma + T) (S at a1 = 0); exp and log are increasing",
    "kv.eq6.sigma.corrected": "one score u and T scores 0: e^u/(e^u + T); e^u - 1 <= 2u on (0, 1]",
    "kv.eq5.one_mixture": f"{_SPLIT}; finitely many coincidences of i - 1, i, i + 1, i + 2, T; signs of sums "
    "of e^2, e^6",
    "kv.fig2.two_tokens.loss": "lead affine in b; at each end monotone in a (sign of derivatives on [0, 1]); (e - "
    "1)/(2e + 1) > (e - 2)/(e + 2)",
    "kv.beyond.critical_point": "S Z grad by weights w_c: where the b-slopes vanish the a-slopes are M beta, det M = "
    "2 w_r^2 + w_e (w_r + w_e + w_o) > 0, so beta = 0; then two linear equations in A, B of determinant 2T",
    "kv.beyond.infimum.vanilla": f"e^L = T - 1 + e^{{b1 (2A - 1)/S}}; {_SMALL}",
    "kv.beyond.infimum.v_shift": f"e^L = T - 3 + two exponentials; {_SMALL}; (T + 3)/(T - 3) <= 7",
    "kv.beyond.infimum.k_shift": f"e^L - 1 > 0; {_SMALL}",
    "kv.beyond.route.anti_induction": f"all three rates are > 0 on the domain; log(1 + x) <= x; {_SMALL}",
    "kv.beyond.time.not_ahead": "theory.landscape.learning_order: b1' by shares, 2A >= 1, S >= T; a2' = B (b1 - G)/S "
    "with G >= 0 from D_r <= 1 and D_r - D_e >= 1 - e or D_e <= 1/2; both brackets grow with T from 44 on",
    "kv.fig2.caption": "kv.beyond.box.minimiser",
    "kv.beyond.box.minimiser": "margins affine in b; o: b (B - 1)/S; e: b (A + B - 2) + 1 - A with A + B >= 2 "
    "sqrt(e) > 2; i: ends 1 - B <= 0 and B - 2A; (B - 1)/S and (B - 2A)/S fall in a",
    "kv.beyond.box.minimum": "kv.fig2.caption; with t = 1/T, rest is a Taylor remainder of L_min - log T: third "
    "derivative < 0 on [0, 1/4] (interval), value at T = 4; 19 bounds a third of its size",
    "kv.beyond.box.kkt": "u = 1/(T - 2) in [0, 1/2], interval proof: b-slope < 0 for a <= 2/5; for a >= 2/5 the "
    "a-slope is b f + u g with f, g > 0; a-slope > 0 at b = 1",
    "kv.beyond.slice.conditions": "S dD_c/db = q_c; S dD_c/da + b (rise - 1) q_c = b K_c - R_c: an invertible "
    "combination",
    "kv.beyond.slice.fold": "Krawczyk in three unknowns on the box (it passes); branch and bound elsewhere",
    "kv.listing_l.levels": "branch and bound over the box; enumerate n, or n/20 <= 9.95 and no n/20 in [4.62, 4.649]",
    "kv.property1.every_row": "terms k <= i and k > j vanish: cut the sum at i and at j (empty for j <= i)",
    "kv.sec5.query_kernel.no_scalar": "leads P1, P2 of A B over B B, A A and Q1, Q2 of A A over A C, C A: P1 P2 (g0 "
    "+ g1)^2 + Q1 Q2 (g0 - g1)^2 = 0, and P1 P2 > 0 excludes g0 = g1",
}
