"""README files: the generated parts of the main one, and the pages of the runs."""
