"""Fuzzing: generated texts and models are given to two or more implementations until their ids differ.

How texts are made. hypothesis knows structure but makes a few hundred examples a second; a tokenizer encodes a hundred
thousand short texts in that time. So the volume comes from seeded generators that write text directly, 256 texts a
batch (`families`: general categories, scripts, white space, digits, contractions, emoji, marks, directions, runs, code,
special tokens, tokens of the model joined, code points newer than Unicode 16; `mutations`: real text damaged). In every
eighth batch hypothesis draws 32 *structures* instead (`strategies`: trees of joins, repeats and case changes over those
families and literals), and the generators fill in each eight times. Batches go through `encode_batch`,
`encode` and `encode_array` in turn; in every fifth special tokens are recognised. Random models (`model_source`) are
made alike: three batches of four directly, one from lists of merges that hypothesis draws.

Batch k of a seed is always the same; with a number of texts and no time limit a run depends on the seed, the
releases of Python and hypothesis and the fetched corpora, and on nothing else.

Every side runs in a process of its own (`serve`, `side_process`): it may die, hang, or load another release of a
package. A difference is shrunk (`examine`), classified (`findings`), saved once per kind (`replay.CounterexampleFile`),
and replayed by the tests.
"""

from harness.check.fuzz.replay import CounterexampleFile, Replayed, read_counterexamples, replay
from harness.check.fuzz.run import FuzzPlan, FuzzResult, FuzzRun
from harness.check.fuzz.sides import SideSpec, parse_side

__all__ = [
    "CounterexampleFile",
    "FuzzPlan",
    "FuzzResult",
    "FuzzRun",
    "Replayed",
    "SideSpec",
    "parse_side",
    "read_counterexamples",
    "replay",
]
