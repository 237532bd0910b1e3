"""The public classes of other libraries, worn by any implementation of the suite."""
