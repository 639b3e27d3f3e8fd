"""Remembered lineage as the events' datasets and facets: imported only when OpenLineage's provider asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from airflow.providers.openlineage.extractors import OperatorLineage
from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    dataset_version_dataset,
    documentation_dataset,
    output_statistics_output_dataset,
    schema_dataset,
    symlinks_dataset,
)

from ivm_airflow.assets import SCHEME
from ivm_airflow.lineage import Told, dataset_name

DIRECT = frozenset({"identity", "transformation", "aggregation"})


def operator_lineage(told: Told | tuple[()]) -> OperatorLineage:
    """Views that changed as outputs; what they read, upstream views too, as inputs, each once."""
    read = {item["name"]: item for view in told for item in view["reads"]}
    return OperatorLineage(inputs=[_input(item) for _, item in sorted(read.items())], outputs=list(map(_output, told)))


def column_facet(view: Mapping[str, Any]) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    """Where a view's columns come from, and under ``dataset`` the columns that decide about its rows."""
    places = {item["name"]: dataset_name(item["location"]) for item in view["reads"]}
    fields = {
        name: column_lineage_dataset.Fields(inputFields=_input_fields(origins, places))
        for name, origins in view["lineage"]["columns"].items()
    }
    return column_lineage_dataset.ColumnLineageDatasetFacet(
        fields=fields, dataset=_input_fields(view["lineage"]["rows"], places)
    )


def _input(item: Mapping[str, Any]) -> InputDataset:
    namespace, name = dataset_name(item["location"])
    facets = _facets(item)
    if item["version"] is not None:
        facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(datasetVersion=str(item["version"]))
    return InputDataset(namespace=namespace, name=name, facets=facets)


def _output(view: Mapping[str, Any]) -> OutputDataset:
    namespace, name = dataset_name(view["location"])
    facets = {**_facets(view), "columnLineage": column_facet(view)}
    if view["comment"]:
        facets["documentation"] = documentation_dataset.DocumentationDatasetFacet(description=view["comment"])
    changed = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=view["rows_changed"])
    return OutputDataset(namespace=namespace, name=name, facets=facets, outputFacets={"outputStatistics": changed})


def _facets(item: Mapping[str, Any]) -> dict[str, Any]:
    fields = [schema_dataset.SchemaDatasetFacetFields(name=name, type=type_) for name, type_ in item["columns"]]
    alias = symlinks_dataset.Identifier(namespace=SCHEME, name=item["name"], type="TABLE")
    return {
        "schema": schema_dataset.SchemaDatasetFacet(fields=fields),
        # The name under which people know what the location holds.
        "symlinks": symlinks_dataset.SymlinksDatasetFacet(identifiers=[alias]),
    }


def _input_fields(
    origins: Iterable[Mapping[str, str]], places: Mapping[str, tuple[str, str]]
) -> list[column_lineage_dataset.InputField]:
    """One field for each column of a table, with all that is done with it."""
    effects: dict[tuple[str, str], list[str]] = {}
    for origin in origins:
        effects.setdefault((origin["table"], origin["column"]), []).append(origin["effect"])
    return [
        column_lineage_dataset.InputField(
            *places[table], field=column, transformations=list(map(_transformation, found))
        )
        for (table, column), found in effects.items()
    ]


def _transformation(effect: str) -> column_lineage_dataset.Transformation:
    kind = "DIRECT" if effect in DIRECT else "INDIRECT"
    return column_lineage_dataset.Transformation(type=kind, subtype=effect.upper())
