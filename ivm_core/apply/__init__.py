"""Stage 6: a batch in, the statements that change the view's state table out, and the report of what was applied."""
