"""Fuzzing: generated texts and models are given to two or more implementations until their ids differ.

Texts come from the seeded generators of `harness.generators`, 256 a batch, at the speed at which a tokenizer encodes
them: characters by category and script, white space, digits, contractions, emoji, marks, directions, runs, code,
special tokens, tokens of the model joined, code points newer than Unicode 16, real text damaged, and all of that
joined, repeated and nested. Batches go through `encode_batch`, `encode` and `encode_array` in turn; in every fifth
special tokens are recognised. Random models are those of `source.model_batch`.

Batch k of a seed is always the same; with a number of texts and no time limit a run depends on the seed, the release of
Python and the fetched corpora, and on nothing else.

Every side runs in a process of its own (`side_process`, which calls `questions`): it may die or hang. A difference is
minimised (`examine`), classified (`findings`), saved once per kind (`replay.CounterexampleFile`), and replayed by the
tests.
"""
