"""TPC-H and TPC-DS: every query as a view that follows changes of all its tables."""
