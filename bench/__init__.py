"""The project's benchmark on TPC-H: data, change streams, and the demo that runs the real thing and shows its times.

In: a scale factor. Out: Delta base tables, batches of changes, a table of times and a page to look at.
May import ``ivm_core`` and Spark; nothing in ``ivm_core`` but the command line knows of it.
"""
