"""The paper in plain NumPy, line by line: "The Search Problem in Mixture Models".

`algorithms` has its three algorithms; `gaussian`, `lda`, `regression` and `subspace` have the moments of its models.
Everything is dense, so d is at most a few thousand. The searches of this package compute the same numbers at scale, and
a test compares both.
"""
