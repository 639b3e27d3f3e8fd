"""The project that ``ivm init`` writes: the files under ``template``, copied as they are. Imports errors only."""

from ivm_core.cli.scaffold.write import write_project

__all__ = ["write_project"]
