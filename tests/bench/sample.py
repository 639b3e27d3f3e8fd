"""A demo result with invented numbers, for what shows results. One name needs escaping, one view is slower, one failed."""

from __future__ import annotations

from typing import Any

from bench.results import DemoResult, Round, join_reports

VIEWS = {
    "tpch.q01_pricing_summary": (1.31, 8.42),
    "tpch.q03_shipping_priority": (3.4, 6.1),
    "tpch.q05_local_supplier_volume": (2.6, 5.9),
    "tpch.q06_forecasting_revenue_change": (0.62, 2.11),
    "tpch.q09_product_type_profit": (4.8, 9.6),
    "tpch.q19_discounted_revenue": (2.4, 2.2),
    "tpch.<profit> & 'more'": (0.31, 0.94),
}
ROUNDS = (
    Round("RF1", "inserts", {"orders": 1500, "lineitem": 6017}, 2.1, "demo-1", 31.2),
    Round("RF2", "deletes", {"lineitem": 6005, "orders": 1500}, 4.0, "demo-2", 33.9),
    Round("RF3", "updates", {"lineitem": 6016, "orders": 1500, "customer": 150, "supplier": 10}, 9.2, "demo-3", 74.0),
)


def entry(view: str, seconds: float, full: float | None, **changed: Any) -> dict[str, Any]:
    """A view's entry in a run's report."""
    strategy = {"strategy": "incremental", "reason": "linear", "detail": "", "rows_changed": 4, "seconds": seconds}
    check = {"validated": None if full is None else True, "rows": None if full is None else 1175, "full_seconds": full}
    return {"view": view, "error": None, **strategy, **check, **changed}


def sample_reports() -> list[dict[str, Any]]:
    """Three reports as the DAG's last task writes them."""
    first = [entry(view, incremental * 0.8, None) for view, (incremental, _) in VIEWS.items()]
    second = [entry(view, incremental * 0.9, None) for view, (incremental, _) in VIEWS.items() if "q03" not in view]
    third = [entry(view, incremental, full) for view, (incremental, full) in VIEWS.items()]
    third[3] |= {"strategy": "full", "reason": "cheaper", "detail": "1.1 s against 2.3 s"}
    return [{"views": views} for views in (first, second, third)]


def sample_result() -> DemoResult:
    """A finished demo at scale factor 1."""
    return DemoResult(
        scale=1,
        percent=0.1,
        rounds=ROUNDS,
        views=join_reports(sample_reports()),
        machine={"processor": "Example CPU, 2 cores", "memory": "24 GiB", "spark": "4.2.0", "delta": "4.4.0"},
        steps={"data generated": 18.7, "tables loaded": 41.0, "views built": 88.0},
        finished_at="2026-01-31 12:00 UTC",
        unchanged_seconds=0.52,
        total_seconds=431.0,
    )
