"""Why two tokenizers differ: the first stage that does, both derivations, and how certain that is.

`explain(side_of(x, "x"), side_of(y, "y"), text).stage` names the stage; `black_box` makes a side of two functions.
Knows implementations through their interface, and shows nothing: see `harness.report.explanation_text` and `_page`.
"""

from harness.explain.explain import explain, first_differing_stage
from harness.explain.making import side_of
from harness.explain.sides import Side, black_box
from harness.explain.targets import load_side
from harness.explain.trace import trace

__all__ = ["Side", "black_box", "explain", "first_differing_stage", "load_side", "side_of", "trace"]
