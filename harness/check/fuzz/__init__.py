"""Fuzzing: texts, and models, that no corpus holds, put to two or more implementations until their ids differ.

How texts are made. hypothesis knows structure but makes a few hundred examples a second; a tokenizer reads a hundred
thousand short texts in that time. So the volume comes from seeded generators that write text directly, 256 texts a
batch (`families`: general categories, scripts, white space, digits, contractions, emoji, marks, directions, runs, code,
special tokens, tokens of the model joined, code points newer than Unicode 16; `mutations`: real text damaged). In every
eighth batch hypothesis draws 32 *structures* instead (`strategies`: trees of joining, repeating and changing case over
those families and over literals), and the generators fill in each eight times. Batches go through `encode_batch`,
`encode` and `encode_array` in turn; in every fifth special tokens are recognised. Random models (`model_source`) are
made alike: three batches of four directly, one from lists of merges that hypothesis draws.

Batch k of a seed is always the same; with a number of texts and no bound in time a run depends on the seed, the
releases of Python and hypothesis and the corpora at hand, and on nothing else.

Every side runs in a process of its own (`serve`, `asking`): it may die, hang, or hold another release of a package.
A difference is shrunk (`examine`), classed (`findings`), kept once a kind (`replay.Keeper`), and replayed by the tests.
"""

from harness.check.fuzz.hunt import FuzzPlan, FuzzResult, Hunt
from harness.check.fuzz.replay import Keeper, Replayed, read_counterexamples, replay
from harness.check.fuzz.sides import SideSpec, parse_side

__all__ = [
    "FuzzPlan",
    "FuzzResult",
    "Hunt",
    "Keeper",
    "Replayed",
    "SideSpec",
    "parse_side",
    "read_counterexamples",
    "replay",
]
