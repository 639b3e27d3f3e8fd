#!/usr/bin/env bash
# Start one part of the Spark cluster: spark.sh master | worker | connect.
#
# SPARK_SECRET   shared by all parts; written to a file that only this user can read, never given as an argument
# SPARK_MASTER   host:port of the master
# SPARK_HOST     the name under which the other parts reach this one
# CORES, MEMORY  of a worker; MEMORY of the driver for connect; EXECUTOR_MEMORY for connect
set -euo pipefail

role=${1:?master, worker or connect}
: "${SPARK_SECRET:?}" "${SPARK_MASTER:?}" "${SPARK_HOST:?}"
prefix=$(python -c 'import sys; print(sys.prefix)')
spark=$(python -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)')

SPARK_CONF_DIR=$(mktemp -d)
export SPARK_HOME=$spark SPARK_CONF_DIR
umask 077
cat > "$SPARK_CONF_DIR/spark-defaults.conf" <<CONF
spark.authenticate                      true
spark.authenticate.secret               $SPARK_SECRET
spark.network.crypto.enabled            true
spark.driver.extraClassPath             $prefix/share/ivm/jars/*
spark.executor.extraClassPath           $prefix/share/ivm/jars/*
spark.sql.extensions                    io.delta.sql.DeltaSparkSessionExtension
spark.sql.catalog.spark_catalog         org.apache.spark.sql.delta.catalog.DeltaCatalog
spark.sql.warehouse.dir                 ${WAREHOUSE:-/lake/warehouse}/spark
spark.ui.enabled                        ${SPARK_UI:-false}
CONF

case $role in
master)
    exec "$spark/bin/spark-class" org.apache.spark.deploy.master.Master \
        --host "$SPARK_HOST" --port "${SPARK_MASTER##*:}" --webui-port "${WEB_PORT:-8080}"
    ;;
worker)
    # Files of the shared storage must be readable by the driver as well.
    umask 022
    exec "$spark/bin/spark-class" org.apache.spark.deploy.worker.Worker \
        --host "$SPARK_HOST" --webui-port "${WEB_PORT:-8081}" --work-dir "$(mktemp -d)" \
        --cores "${CORES:-1}" --memory "${MEMORY:-2g}" "spark://$SPARK_MASTER"
    ;;
connect)
    umask 022
    exec "$spark/bin/spark-submit" --class org.apache.spark.sql.connect.service.SparkConnectServer \
        --master "spark://$SPARK_MASTER" --driver-memory "${MEMORY:-2g}" --executor-memory "${EXECUTOR_MEMORY:-1g}" \
        --conf spark.driver.host="$SPARK_HOST" --conf spark.driver.bindAddress=0.0.0.0 \
        --conf spark.connect.grpc.binding.address="${BIND:-0.0.0.0}" \
        --conf spark.connect.grpc.binding.port="${CONNECT_PORT:-15002}" \
        spark-internal
    ;;
*)
    echo "spark.sh: no such part: $role" >&2
    exit 2
    ;;
esac
