"""Adapter: what must outlive a process, in a relational database through SQLAlchemy. Takes and returns plain dataclasses."""
