#!/usr/bin/env bash
# Start one part of the Spark cluster: spark.sh master | worker | connect, or a program whose Spark drivers belong to it:
# spark.sh driver COMMAND…
#
# SPARK_SECRET   shared by all parts; written to a file that only this user can read, never given as an argument
# SPARK_MASTER   host:port of the master
# SPARK_HOST     the name under which the other parts reach this one
# CORES, MEMORY  of a worker; MEMORY of the driver for connect
# EXECUTOR_CORES, EXECUTOR_MEMORY  for connect: cores on all workers together (empty: all of them), memory on each
set -euo pipefail

role=${1:?master, worker, connect or driver}
: "${SPARK_SECRET:?}" "${SPARK_MASTER:?}" "${SPARK_HOST:?}"
prefix=$(python -c 'import sys; print(sys.prefix)')
spark=$(python -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)')

SPARK_CONF_DIR=$(mktemp -d)
export SPARK_HOME=$spark SPARK_CONF_DIR
umask 077
# From explainMode on: a batch is many small queries. No long descriptions, classes are kept and serve the next one, no log
# line for each (session.py says why); and a table's log is replayed in few tasks: Delta's 50 are most of a small batch's
# time on few cores.
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
spark.driver.host                       $SPARK_HOST
spark.driver.bindAddress                ${BIND:-0.0.0.0}
spark.ui.showConsoleProgress            false
spark.sql.ui.explainMode                simple
spark.sql.maxPlanStringLength           2000
spark.sql.codegen.cache.maxEntries      4000
spark.sql.optimizer.inSetConversionThreshold 1
spark.sql.optimizer.inSetSwitchThreshold 0
spark.sql.optimizer.excludedRules       org.apache.spark.sql.catalyst.optimizer.LimitPushDown
spark.buffer.pageSize                   4m
spark.log.level                         WARN
spark.databricks.delta.snapshotPartitions ${SNAPSHOT_PARTITIONS:-4}
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
        ${EXECUTOR_CORES:+--total-executor-cores "$EXECUTOR_CORES"} \
        --conf spark.connect.grpc.binding.address="${BIND:-0.0.0.0}" \
        --conf spark.connect.grpc.binding.port="${CONNECT_PORT:-15002}" \
        spark-internal
    ;;
driver)
    umask 022
    shift
    exec "$@"
    ;;
*)
    echo "spark.sh: no such part: $role" >&2
    exit 2
    ;;
esac
