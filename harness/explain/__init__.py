"""Explain why two tokenizers differ: the first differing stage, both derivations, and the evidence.

`explain(side_of(x, "x"), side_of(y, "y"), text).stage` names the stage; a `Side` may be no more than two functions.
Implementations are known only through their interface; `harness.report` renders the result.
"""

from harness.explain.adapters import load_side, side_of
from harness.explain.explain import explain, trace
from harness.explain.sides import Side

__all__ = ["Side", "explain", "load_side", "side_of", "trace"]
