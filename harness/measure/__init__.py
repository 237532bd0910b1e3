"""Timing, memory and compression: workloads, schedule, worker processes, statistics, provenance.

`session.measure(plan, folder)` is a whole run. `schedule` makes the plan from the workloads of `workloads`; `run` goes
through its turns with `runner`, which talks to worker processes through `processes`; `worker`, `tasks`, `timing` and
`verify` run inside the worker. `stats` computes on numbers, `samples` extracts them from records, `comparison` decides
what may be claimed. Nothing here parses a command line, prints, or knows a table.
"""
