"""Print fresh secrets for docker-compose.yaml: ``(umask 077 && python docker/make_secrets.py > .env)``, for your eyes only."""

import base64
import os
import secrets

NAMES = ("POSTGRES_PASSWORD", "AIRFLOW_JWT_SECRET", "AIRFLOW_SECRET_KEY", "AIRFLOW_ADMIN_PASSWORD", "SPARK_SECRET")

for name in NAMES:
    print(f"{name}={secrets.token_urlsafe(32)}")
print(f"AIRFLOW_FERNET_KEY={base64.urlsafe_b64encode(os.urandom(32)).decode()}")
print("AIRFLOW_ADMIN_USER=admin")
print("AIRFLOW_ADMIN_EMAIL=admin@example.org")
