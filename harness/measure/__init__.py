"""Timing, memory and compression: workloads, schedule, worker processes, statistics, provenance.

`session.measure(plan, folder)` is a whole run. `templates` reads the workloads, `schedule` puts the turns of a plan in
order, `references` says what is right; `run` goes through the turns with `runner`, which talks to worker processes
through `processes`; `worker`, `tasks`, `timing` and `verify` run inside the worker. `stats` computes on numbers,
`samples` extracts them from records, `comparison` decides what may be claimed. Nothing here parses a command line,
prints, or knows a table.
"""
