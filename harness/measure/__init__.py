"""Timing, memory and compression: workloads, schedule, worker processes, statistics, provenance."""
