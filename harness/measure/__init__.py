"""Timing, memory and compression: workloads, schedule, worker processes, statistics, provenance.

`session.measure(plan, folder)` is a whole run. A plan comes from `schedule` and the workloads of `workloads`; `run`
takes its turns through `runner`, which asks `processes`, the worker seen from outside; `worker`, `tasks`, `timing`
and `verify` are what runs inside. `stats` computes on numbers, `samples` gets them out of records, `comparison` says
what may be claimed of them. Nothing here parses a command line, prints, or knows a table.
"""
