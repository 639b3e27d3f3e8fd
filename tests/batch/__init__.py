"""Which versions a batch covers, and what the commits in them can have done."""
