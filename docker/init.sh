#!/usr/bin/env bash
# Bring Airflow's database up to date and see that the pool and the first user are there. Safe to run again.
set -euo pipefail
: "${ADMIN_USER:?}" "${ADMIN_PASSWORD:?}" "${ADMIN_EMAIL:?}"

airflow db migrate
airflow fab-db migrate
airflow pools set ivm "${POOL_SLOTS:-4}" "Spark work of view maintenance"
# Exists already: says so and changes nothing.
# With =: what begins with a dash would be taken for an option.
airflow users create --role=Admin --username="$ADMIN_USER" --email="$ADMIN_EMAIL" \
    --firstname="$ADMIN_USER" --lastname=Admin --password="$ADMIN_PASSWORD"
