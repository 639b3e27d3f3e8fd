"""Why an operator is maintained as it is: a code that is shown, and what the author of the query can change."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """The reason for an operator's rule. docs/views.md explains each with an example."""

    ROW_BY_ROW = "row_by_row"
    JOIN_TERMS = "join_terms"
    MERGED_GROUPS = "merged_groups"
    FLOATING_SUM = "floating_sum"
    WIDE_NUMBERS = "wide_numbers"
    MOMENTS = "moments"
    LEFT_JOIN_MATCHES = "left_join_matches"
    DISTINCT_VALUES = "distinct_values"
    DISTINCT_AGGREGATE = "distinct_aggregate"
    WHOLE_GROUP = "whole_group"
    GROUP_BELOW = "group_below"
    ONE_GROUP = "one_group"
    ROW_VALUE = "row_value"
    PARTITION = "partition"
    ONE_PARTITION = "one_partition"
    JOIN_KEY = "join_key"
    UNLINKED_JOIN = "unlinked_join"
    SPARE_ROWS = "spare_rows"
    FIRST_ROWS = "first_rows"
    RECURSION = "recursion"
    NO_RULE = "no_rule"
    WHEN_READ = "when_read"

    @property
    def advice(self) -> str:
        """The smallest rewrite of the query that changes the strategy; empty where none is needed or known."""
        return _ADVICE.get(self, "")


_ADVICE = {
    Code.JOIN_KEY: "Write JOIN where each row has a match; EXISTS and IN over a column without duplicates are a JOIN too.",
    Code.ROW_VALUE: "Write UNION ALL where no row is on both sides; INTERSECT is SELECT DISTINCT over a JOIN by all columns.",
    Code.PARTITION: "Without ORDER BY, keep GROUP BY the partition as a view, and join it here; ranks have no other form.",
    Code.RECURSION: "Write as many joins as there are steps, where their number is known.",
    Code.FLOATING_SUM: (
        "Add exact numbers: sum(CAST(x AS DECIMAL(18, 4))) in place of sum(x), likewise avg. Or keep the sums as a view of "
        "their own, named in the query's WITH and marked MATERIALIZED."
    ),
    Code.WIDE_NUMBERS: "Narrow the argument: CAST(x AS INT) or CAST(x AS DECIMAL(15, 2)), if its values fit.",
    Code.MOMENTS: "Keep count(x), sum(x) and sum(x * x) of integers or decimals; compute the rest when reading the view.",
    Code.DISTINCT_VALUES: "Keep a view of SELECT DISTINCT key, x, and a second one over it with count(x) or sum(x) by key.",
    Code.DISTINCT_AGGREGATE: "Keep a view for each DISTINCT, over one argument, and join them when they are read.",
    Code.WHOLE_GROUP: "Keep the rows in one view, the aggregate in a second: only it is computed again, group by group.",
    Code.GROUP_BELOW: (
        "Name the inner aggregate, or each grouping of ROLLUP and CUBE, in the query's WITH, and mark it MATERIALIZED: "
        "WITH name AS MATERIALIZED (SELECT …). It is kept as a view of its own."
    ),
    Code.ONE_GROUP: "Group by a column first, in a CTE that is MATERIALIZED, and aggregate its few groups here.",
    Code.ONE_PARTITION: "Add PARTITION BY a column to the window.",
    Code.UNLINKED_JOIN: "Link the two sides by an equality of columns in ON, or in the subquery's WHERE.",
    Code.FIRST_ROWS: "Keep the first rows as a view of their own, or rank by row_number() OVER (PARTITION BY …) <= n.",
    Code.NO_RULE: "Cast the column to a type that can be compared, or leave it out of GROUP BY, DISTINCT and set operations.",
}
