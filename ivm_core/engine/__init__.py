"""Adapter: the only package that touches Spark and Delta tables, through SQL and DataFrames only (classic and Connect)."""
