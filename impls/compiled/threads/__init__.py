"""Which context and which thread a call uses, and how a batch is shared among them."""
