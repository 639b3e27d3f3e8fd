"""Break the compiler in one random place after another, and see whether the tests notice: ``make mutate MUTANTS=100 SEED=1``.

Works in clones of the last commit below ``.ivm``, one a processor. cosmic-ray is fetched for itself: its dependencies are not
the project's.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).parent.parent
COSMIC_RAY = "cosmic-ray==8.4.6"
SESSION = "session.sqlite"
# `|` stands in annotations nearly everywhere, and those are not evaluated. `is` for `==` and the other way round make the same
# program of constants, enumeration members and None.
LEFT_OUT = ("%BitOr%", "%_Eq_Is", "%_Is_Eq", "%_NotEq_IsNot", "%_IsNot_NotEq")
PLACES = (
    "SELECT job_id FROM mutation_specs WHERE NOT ("
    + " OR ".join("operator_name LIKE ?" for _ in LEFT_OUT)
    + ") ORDER BY module_path, operator_name, occurrence"
)
OUTCOMES = "SELECT coalesce(test_outcome, worker_outcome) FROM work_results"
SURVIVED = (
    "SELECT m.module_path, m.start_pos_row, m.operator_name, r.diff FROM mutation_specs m "
    "JOIN work_results r USING (job_id) WHERE r.test_outcome = 'SURVIVED' ORDER BY 1, 2"
)


def main() -> int:
    """Print how many mutants were noticed, and each that was not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=100, help="how many, drawn from all")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many to try side by side")
    options = parser.parse_args()
    place = ROOT / ".ivm" / f"mutation-{options.seed}"
    shutil.rmtree(place, ignore_errors=True)
    clones = [_clone(place / f"part-{part}") for part in range(options.jobs)]
    _wait([_cosmic_ray(clones[0], "init")])
    with closing(sqlite3.connect(clones[0] / SESSION)) as database:
        jobs = [job for (job,) in database.execute(PLACES, LEFT_OUT)]
    drawn = random.Random(options.seed).sample(jobs, min(options.mutants, len(jobs)))
    for clone in clones[1:]:
        shutil.copy(clones[0] / SESSION, clone / SESSION)
    for part, clone in enumerate(clones):
        _keep(clone / SESSION, drawn[part :: len(clones)])
    _wait([_cosmic_ray(clone, "exec") for clone in clones])
    counted: Counter[str] = Counter()
    survivors: list[Sequence[str]] = []
    for clone in clones:
        with closing(sqlite3.connect(clone / SESSION)) as database:
            counted.update(outcome.lower() for (outcome,) in database.execute(OUTCOMES))
            survivors += database.execute(SURVIVED)
    print(json.dumps({"seed": options.seed, "of": len(jobs), "mutants": len(drawn)} | counted))
    for module, row, operator, diff in sorted(survivors):
        print(f"\n{module}:{row} {operator}\n{diff}")
    return 0


def _clone(place: Path) -> Path:
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(place)], check=True)
    (place / ".venv").symlink_to(ROOT / ".venv")
    return place


def _keep(session: Path, jobs: Sequence[str]) -> None:
    """Leave nothing else in a session to be tried."""
    listed = ", ".join("?" * len(jobs))
    with closing(sqlite3.connect(session)) as database, database:
        for table in ("mutation_specs", "work_items"):
            database.execute(f"DELETE FROM {table} WHERE job_id NOT IN ({listed})", tuple(jobs))


def _cosmic_ray(place: Path, command: str) -> subprocess.Popen[bytes]:
    uvx = ROOT / ".venv" / "bin" / "uvx"
    words = [str(uvx), "--quiet", "--from", COSMIC_RAY, "cosmic-ray", command, "cosmic-ray.toml", SESSION]
    return subprocess.Popen(words, cwd=place)


def _wait(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        if process.wait():
            raise SystemExit(f"cosmic-ray ended with {process.returncode}.")


if __name__ == "__main__":
    sys.exit(main())
