"""The paper's experiments: its methods by name, ours and what people use instead, on the same flipped data.

amiss.paper.method("M-LRW").fit(X, Y)
"""

from amiss.paper.methods import method

__all__ = ["method"]
