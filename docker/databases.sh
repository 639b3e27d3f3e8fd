#!/usr/bin/env bash
# Run once by the PostgreSQL image, on an empty data folder: one database for Airflow, one for the catalogue.
set -euo pipefail
createdb --username "$POSTGRES_USER" --owner "$POSTGRES_USER" airflow
