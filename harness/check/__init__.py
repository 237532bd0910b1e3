"""Round trip and agreement of implementations."""
