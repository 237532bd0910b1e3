"""Peers: third-party encoders and trainers over our `Model`, one file each, loaded as any plug-in is.

Each is an entry point of `bpebench.implementations` and is imported only when chosen; its package comes with the extra
`peers`. An adapter uses its library's fastest documented call for each output, converts the model to a format the
library reads, and raises `Unsupported` for a model that the format cannot hold. None lets its library use the network.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

PEERS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("peers.toml").read_text("utf-8"))
"""The entries of `peers.toml`, by which a peer is listed without importing it."""
