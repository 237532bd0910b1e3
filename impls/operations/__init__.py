"""What every tokenizer gets from what an implementation gives: functions of a tokenizer, which use its public names."""
