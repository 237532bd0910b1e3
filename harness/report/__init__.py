"""Everything shown to a person, made from records: tables, charts, the README's generated parts."""
