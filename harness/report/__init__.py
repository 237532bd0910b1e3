"""Everything shown to people, made from records: tables, charts, pages, the README's generated parts."""
