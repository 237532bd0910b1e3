"""What models whose alphabet is characters need besides merging: the symbols of characters, and user-defined pieces."""
