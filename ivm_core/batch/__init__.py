"""Stage 5: a job and the tables' logs in, a batch out: exact versions, and how each base table changed between them."""
