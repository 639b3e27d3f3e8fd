"""Stage 3: a delta plan and statistics in, a decision out: which strategy, and why. May import ``delta`` and what it may."""
