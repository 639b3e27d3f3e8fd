"""Alembic's environment and the schema's history, run by ``migrate.py`` when a catalogue is opened."""
