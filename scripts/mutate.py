"""Break the compiler in one random place after another, and see whether the tests notice: ``make mutate MUTANTS=100 SEED=1``.

Works in a clone of the last commit below ``.ivm``. cosmic-ray is fetched for itself: its dependencies are not the project's.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).parent.parent
COSMIC_RAY = "cosmic-ray==8.4.6"
# `|` stands in annotations nearly everywhere, and those are not evaluated.
LEFT_OUT = "%BitOr%"
PLACES = (
    "SELECT job_id FROM mutation_specs WHERE operator_name NOT LIKE ? ORDER BY module_path, operator_name, occurrence"
)
SURVIVED = (
    "SELECT m.module_path, m.start_pos_row, m.operator_name, r.diff FROM mutation_specs m "
    "JOIN work_results r USING (job_id) WHERE r.test_outcome = 'SURVIVED' ORDER BY 1, 2"
)


def main() -> int:
    """Print how many mutants were noticed, and each that was not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=100, help="how many, drawn from all")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others")
    options = parser.parse_args()
    place = ROOT / ".ivm" / f"mutation-{options.seed}"
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(place)], check=True)
    (place / ".venv").symlink_to(ROOT / ".venv")
    session = place / "session.sqlite"
    _cosmic_ray(place, "init", "cosmic-ray.toml", session.name)
    with closing(sqlite3.connect(session)) as database, database:
        jobs = [job for (job,) in database.execute(PLACES, (LEFT_OUT,))]
        drawn = set(random.Random(options.seed).sample(jobs, min(options.mutants, len(jobs))))
        for table in ("mutation_specs", "work_items"):
            listed = ", ".join("?" * len(drawn))
            database.execute(f"DELETE FROM {table} WHERE job_id NOT IN ({listed})", tuple(drawn))
    _cosmic_ray(place, "exec", "cosmic-ray.toml", session.name)
    with closing(sqlite3.connect(session)) as database:
        outcomes = database.execute(
            "SELECT coalesce(test_outcome, worker_outcome), count(*) FROM work_results GROUP BY 1"
        )
        summary = {outcome.lower(): count for outcome, count in outcomes}
        print(json.dumps({"seed": options.seed, "of": len(jobs), "mutants": len(drawn)} | summary))
        for module, row, operator, diff in database.execute(SURVIVED):
            print(f"\n{module}:{row} {operator}\n{diff}")
    return 0


def _cosmic_ray(place: Path, *arguments: str) -> None:
    uvx = ROOT / ".venv" / "bin" / "uvx"
    subprocess.run([str(uvx), "--quiet", "--from", COSMIC_RAY, "cosmic-ray", *arguments], cwd=place, check=True)


if __name__ == "__main__":
    sys.exit(main())
