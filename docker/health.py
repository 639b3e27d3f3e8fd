"""Health check of a container: ``health.py http URL`` or ``health.py port HOST:PORT``; exit code 0 when it answers."""

import socket
import sys
from urllib.request import urlopen

kind, address = sys.argv[1:]
if kind == "http":
    with urlopen(address, timeout=5) as answer:
        raise SystemExit(answer.status != 200)
host, _, port = address.rpartition(":")
socket.create_connection((host, int(port)), timeout=5).close()
