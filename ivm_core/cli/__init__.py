"""The command line ``ivm``: one command for each use case of ``maintain``, and no logic of its own.

In: arguments. Out: tables on a terminal or JSON, and an exit code. May import everything below it; imports what is
slow (Spark, the catalogue) only inside the command that needs it.
"""

from ivm_core.cli.app import main

__all__ = ["main"]
