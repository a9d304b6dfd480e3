# %% [markdown]
# # Rule on a claim of your own
#
# A paper says that something holds for every length, every real logit, every slope. Trying a million points is no proof, and
# a proof on paper may have a slip. Here a claim is *data*: variables with their domains, hypotheses, a conclusion. A search
# looks for a witness or a proof, and a small core - a few thousand lines, which is all that you have to believe - checks what
# the search hands over. No answer is better than a wrong one, so the core may also say that it does not know.

# %%
from proofs_check import decide
from proofs_check.language import call, define, eq, exp, log, real, sequence, statement, total, var, whole

# %% [markdown]
# ## 1. State it
#
# The weight of a token in a softmax over $n$ logits. `sequence("s", n)` is any real sequence of a length that is itself a
# variable; `define` gives a name to a formula.

# %%
n, i = whole("n", 1), var("i")
s = sequence("s", n)
m = whole("m", 1, n)
weight = define("weight", [var("s"), var("n"), var("m")],
                exp(var("s")[var("m")]) / total(i, 1, var("n"), exp(var("s")[i])))
below = statement("softmax.below_one", for_all=[n, s, m], says=call("weight", s, n, m) < 1, using=[weight])

# %% [markdown]
# ## 2. Decide it
#
# "A token never gets all of the attention." True? **Look at** the point where it fails.

# %%
answer = decide(below)
print(answer.sentence)
print(answer.outcome, "at", answer.at["point"])

# %% [markdown]
# A context of a single token. The slip is the kind that papers are full of: a hypothesis that everybody has in mind and
# nobody writes. Write it, and the claim is proved - for every length, not for those that were tried.

# %%
repaired = statement("softmax.below_one_of_two", for_all=[n, s, m], given=[n >= 2],
                     says=call("weight", s, n, m) < 1, using=[weight])
answer = decide(repaired, mutants=True)
print(answer.outcome, "-", answer.strength)

# %% [markdown]
# ## 3. Would it have noticed?
#
# A proof of the wrong statement is worth nothing. So the core makes wrong variants of yours - a constant moved, a sign, an
# index, a hypothesis dropped - and says which of them it could *not* tell from the truth. **Look at** the counts: made,
# refuted, true after all, open.

# %%
print({name: answer.mutants[name] for name in ("made", "refuted", "true", "open")})

# %% [markdown]
# ## 4. A bound with numbers
#
# How much can a token at distance $k$ weigh in an ALiBi head of slope $l$, if logits of one query lie within $D$ of one another?
# With two tokens it is $1/(1 + e^{l k - D})$. The first statement says so. The second forgets that the range counts against
# the bound; **look at** how small its counterexample is.

# %%
a, b = real("a"), real("b")
k, l, D = whole("k", 1), real("l", 0), real("D", 0)
share = exp(a - l * k) / (exp(a - l * k) + exp(b))
right = statement("two.right", for_all=[a, b, k, l, D], given=[a - b <= D], says=share <= 1 / (1 + exp(l * k - D)))
wrong = statement("two.wrong", for_all=[a, b, k, l, D], given=[a - b <= D], says=share <= 1 / (1 + exp(l * k)))
for one in (right, wrong):
    answer = decide(one)
    print(answer.id, answer.outcome, answer.at["point"] if answer.at else "")

# %% [markdown]
# ## 5. What does not go through
#
# A statement has to be defined wherever its hypotheses hold, and hypotheses that no point meets are an error, not a proof of
# everything. Both have fooled proof assistants' users before.

# %%
x = real("x")
print(decide(statement("undefined", for_all=[x], says=eq(x / x, 1))).outcome)
answer = decide(statement("empty", for_all=[x], given=[x > 1, x < 0], says=eq(x, 7)))
print(answer.outcome, "-", answer.message)

# %% [markdown]
# ## 6. From here to the papers
#
# The ledger's claims and statements go the same road as far as they are stated as data. `verify` decides them again here,
# from their stored certificates.

# %%
from proofs_check import verify

for found in verify("razor.thm1", "kv.thm3.3.impossible"):
    print(f"{found.id}: {found.verdict}, {found.strength}, {found.status}")

# %% [markdown]
# **Exercise.** State and decide $\ln(1 + y) \le y$ for $y \ge 0$. Then for every real $y$. *Answer: proved; then refuted, for at $y = -1$
# and below there is no logarithm. The usual fix, $y > -1$, is a hypothesis.*

# %%
y = real("y", 0)
print(decide(statement("log", for_all=[y], says=log(1 + y) <= y)).outcome)
y = real("y")
print(decide(statement("log.real", for_all=[y], says=log(1 + y) <= y)).outcome)
print(decide(statement("log.given", for_all=[y], given=[y > -1], says=log(1 + y) <= y)).outcome)
