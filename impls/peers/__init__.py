"""Peers: third-party encoders and trainers over our `Model`, one file each, loaded as any plug-in is.

Each is an entry point of `bpebench.implementations` and is imported only when chosen; its package comes with the extra
`peers`. An adapter uses its library's fastest documented call for each output, converts the model to a format the
library reads, and raises `Unsupported` for a model that the format cannot hold. None lets its library use the network.
"""
