"""What models of characters need besides: the symbols of their alphabet, and user-defined pieces."""
