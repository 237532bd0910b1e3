"""The one way to run a child process: every call ends with an answer or a `Stopped`, and no process is left behind.

- `reaper`: the small process between us and a child that ends the child and all its descendants, however we end.
- `limits`: the time, memory, output and processes a child may use, and the verdict on one that gave no answer.
- `child`: a command driven line by line under those limits; knows nothing of the content of the lines.
- `protocol`: the server's side of those lines.
- `worker`: a process of ours that calls functions; `pool`: many tasks on several of them.
- `memory`: resident memory of processes.
"""
