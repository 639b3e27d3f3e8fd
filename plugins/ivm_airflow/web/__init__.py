"""The page of views: requests in, HTML out, behind Airflow's own login and permissions.

The way of a request: ``mount`` (Airflow's server) → ``gate`` (who asks, and may they) → ``app`` (routes) → ``store`` and
``lag`` (what is known) → ``rows``, ``overview``, ``detail`` (what is shown) → ``draw_*`` (pictures) → ``render`` (templates).
``airflow_api`` asks Airflow itself, as the visitor. Nothing here writes to the catalogue or starts Spark.
"""
