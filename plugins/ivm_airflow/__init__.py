"""Airflow's side: manifest and run parameters in, one use case of ``ivm_core`` a task, a report out.

DAG files import this package when they are parsed: nothing imports ``ivm_core``, Spark or a database before a task
runs.
"""
