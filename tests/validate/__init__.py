"""The difference of two bags."""
