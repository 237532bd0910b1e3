"""Round trip and agreement of implementations and trainers."""
