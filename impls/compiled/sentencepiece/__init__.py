"""What models of characters need besides: their alphabet, and pieces a user defined."""
