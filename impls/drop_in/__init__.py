"""Drop-in replacements: the classes of other libraries, name by name, over any implementation of the suite."""
