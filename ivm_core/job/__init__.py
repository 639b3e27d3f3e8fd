"""Stage 4: a decision in, a maintenance job out: named inputs, readable SQL steps, one write

May import ``cost`` and what it may.
"""
