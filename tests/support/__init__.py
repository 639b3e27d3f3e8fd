"""What docs/sql-support.md says, each line of it from an example that is compiled and maintained here."""
