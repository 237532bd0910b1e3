"""Where Python's objects are read and made: the only room that knows how str, list, int and arrays look inside."""
