"""Random views and change traces: whole maintenance jobs in DuckDB, thousands of cases, with minimised reproducers."""
