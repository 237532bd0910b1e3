"""Round trip, agreement and what a disagreement is made of."""
