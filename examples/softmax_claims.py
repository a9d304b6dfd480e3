"""Three claims about a softmax over n logits, for every n: one true, one false, one that a hypothesis makes true."""

from proofs_check.language import call, define, exp, sequence, statement, total, var, whole

n, i = whole("n", 1), var("i")
s = sequence("s", n)  # any real logits s[1], .., s[n]
m = whole("m", 1, n)  # a position
weight = define(
    "weight", [var("s"), var("n"), var("m")], exp(var("s")[var("m")]) / total(i, 1, var("n"), exp(var("s")[i]))
)

statement("softmax.at_most_one", for_all=[n, s, m], says=call("weight", s, n, m) <= 1, using=[weight])
statement("softmax.below_one", for_all=[n, s, m], says=call("weight", s, n, m) < 1, using=[weight])
statement("softmax.below_one_of_two", for_all=[n, s, m], given=[n >= 2],
          says=call("weight", s, n, m) < 1, using=[weight])  # fmt: skip
