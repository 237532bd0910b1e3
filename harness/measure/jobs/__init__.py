"""What a worker does with a job: `prepared` reads its texts and binds the call, `timing` times it, `judge` verifies it.

`measured` puts these together for most jobs, `long_runs` for those that show effects of time, `recall` for the test of
memory of whole texts. Runs in worker processes; knows nothing of plans, records and other processes.
"""
