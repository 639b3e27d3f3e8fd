"""Adapter: what must outlive a process, in a relational database through SQLAlchemy.

Comes in: records (``model.py``) from ``maintain.py``. Goes out: the same records. ``Catalog`` in ``catalog.py`` is the
only class to use; each method is one transaction. May import sqlalchemy, alembic and the models of the stages.
"""
