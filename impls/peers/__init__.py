"""Peers: third-party encoders and trainers over our `Model`, one file each, loaded as any plug-in is.

Each is an entry point of `bpebench.implementations` and is imported only when it is chosen; its package comes with the
extra `peers`. An adapter calls its library's fastest documented route for the form asked for, converts the model to
what the library reads, and raises `Unsupported` for what that cannot hold. None lets its library use the network.
"""
