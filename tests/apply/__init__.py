"""The statements that change a state table."""
