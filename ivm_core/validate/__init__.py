"""Stage 7: an applied view in, its bag difference to the defining query at the same versions out."""
