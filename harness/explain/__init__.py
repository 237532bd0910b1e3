"""Explain why two tokenizers differ: the first differing stage, both derivations, and the evidence.

`explain(side_of(x, "x"), side_of(y, "y"), text).stage` names the stage; `black_box` makes a side from two functions.
Implementations are known only through their interface; `harness.report` renders the result.
"""

from harness.explain.adapters import load_side, side_of
from harness.explain.explain import explain, trace
from harness.explain.sides import Side, black_box

__all__ = ["Side", "black_box", "explain", "load_side", "side_of", "trace"]
