"""How the Java process starts that is driver and executor at once (``local[*]``, a Connect server of one's own).

What was measured is in DECISIONS.md, "Speed".
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

OPTIONS, CLASS_PATH = "spark.driver.extraJavaOptions", "spark.driver.extraClassPath"
# An archive that does not fit the Java or the class path is passed over; of that nobody need be told on standard output.
_QUIETLY = ("-Xlog:disable", "-Xlog:all=warning,cds=off,cds+dynamic=off:stderr")


def class_archive() -> Path:
    """The file of loaded classes that ``make setup`` leaves for Java to map into memory."""
    return Path(sys.prefix) / "share" / "ivm" / "classes.jsa"


def java_conf(jars: Sequence[Path], own: Mapping[str, str]) -> dict[str, str]:
    """Spark's configuration of the process: Delta Lake's ``jars`` and Java's options, with the user's ``own`` after them.

    The JARs are on the class path itself: only classes from there can be archived.
    """
    conf = {
        OPTIONS: " ".join(_options(own.get(OPTIONS, ""))),
        CLASS_PATH: os.pathsep.join(filter(None, [*map(str, jars), own.get(CLASS_PATH)])),
    }
    return {key: value for key, value in conf.items() if value}


def _options(own: str) -> list[str]:
    options = []
    chosen = " ".join([own, *(os.environ.get(name, "") for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"))])
    if not re.search(r"-XX:\+Use\w+GC\b", chosen):  # a second one keeps Java from starting
        # On few cores Java's parallel collector leaves more of them to the queries than G1.
        options.append("-XX:+UseParallelGC")
    if "ReservedCodeCacheSize" not in chosen:
        # Java forgets what it compiled where there is little room: the queries of 50 views fill the 240 MB of its own choice.
        options.append("-XX:ReservedCodeCacheSize=512m")
    if class_archive().is_file():
        options += [f'"-XX:SharedArchiveFile={class_archive()}"', *_QUIETLY]
    return [*options, *filter(None, [own])]
