"""Output for people, made from records: tables, charts, pages, and the generated parts of the README."""
