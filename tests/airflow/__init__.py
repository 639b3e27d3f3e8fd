"""The DAG of a group, its tasks and its reports."""
