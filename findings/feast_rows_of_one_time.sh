#!/usr/bin/env bash
# Versions: feast 0.67.0, offline store of type file.
# Expectation: get_historical_features adds columns: each row of the entity frame comes back, since
# a row is one document of one query, with both as entities and a label of its own.
# Behavior: After each feature view, of all rows alike in time and in the keys of the views joined
# so far only the last stays. A log of queries at one time keeps one row for each document, or, if
# the features of the queries are named first, one row for each query. Nothing is said. Where all
# times differ all rows come back.
# Output seen:
#   docs:clicks: 4 of 6 rows, labels [0, 0, 2, 1]
#   docs:clicks, queries:words: 4 of 6 rows, labels [0, 0, 2, 1]
#   queries:words, docs:clicks: 2 of 6 rows, labels [0, 1]
#   times that differ: 6 of 6 rows
# Who is hurt: Whoever builds training data for a ranker from impressions that share a time (a page
# of results, daily judgments): most judgments are gone, and lists have one document.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'feast==0.67.0' 'numpy==2.3.5' 'pandas==2.3.3' 'dask==2026.8.0' \
    'pyarrow==22.0.0'
cd "$tmp"
cat >feature_store.yaml <<'YAML'
project: ranking
registry: registry.db
provider: local
offline_store:
  type: file
online_store:
  type: sqlite
  path: online.db
entity_key_serialization_version: 3
YAML
FEAST_USAGE=False "$tmp/venv/bin/python" -W ignore - <<'PY'
from datetime import timedelta
from pathlib import Path

import pandas as pd
from feast import Entity, FeatureStore, FeatureView, Field, FileSource, ValueType
from feast.types import Float32

noon = pd.Timestamp("2026-01-02 12:00", tz="UTC")

def view(name, key, feature, values):
    path = Path(f"{name}.parquet").resolve()
    rows = {key: range(1, len(values) + 1), feature: values, "ts": noon - timedelta(days=1)}
    pd.DataFrame(rows).to_parquet(path)
    entity = Entity(name=key, join_keys=[key], value_type=ValueType.INT64)
    source = FileSource(path=str(path), timestamp_field="ts")
    schema = [Field(name=feature, dtype=Float32)]
    return entity, FeatureView(name=name, entities=[entity], schema=schema, source=source,
                               ttl=timedelta(days=30))

store = FeatureStore(".")
store.apply([*view("docs", "doc", "clicks", [0.1, 0.2, 0.3, 0.4]),
             *view("queries", "query", "words", [3.0, 5.0])])
shown = pd.DataFrame({"query": [1, 1, 1, 2, 2, 2], "doc": [1, 2, 3, 1, 2, 4],
                      "label": [3, 1, 0, 0, 2, 1], "event_timestamp": noon})
expected = {("docs:clicks",): 4, ("docs:clicks", "queries:words"): 4,
            ("queries:words", "docs:clicks"): 2}
for features, rows in expected.items():
    joined = store.get_historical_features(shown, features=list(features)).to_df()
    print(f"{', '.join(features)}: {len(joined)} of 6 rows, labels {joined.label.tolist()}")
    assert len(joined) == rows
shown["event_timestamp"] += pd.to_timedelta(range(6), unit="s")
joined = store.get_historical_features(shown, features=["docs:clicks"]).to_df()
print(f"times that differ: {len(joined)} of 6 rows")
assert sorted(joined.label) == sorted(shown.label)
PY
