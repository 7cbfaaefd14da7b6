"""Run the benchmarks: `python -m tests.bench [--json FILE] [NAME …]`, or `make bench`.

Each is a ratio or a size measured within one run, so that figures of different machines can be compared.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

BENCHES = tuple(sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py")))


def main() -> int:
    """Run what was named, print a table, and return 1 when a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="which; all by default")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in arguments.names or BENCHES:
        print(f"{name} …", file=sys.stderr, flush=True)
        rows += [{"bench": name, **row} for row in importlib.import_module(f"tests.bench_{name}").run()]
    width = max((len(str(row["name"])) for row in rows), default=0)
    for row in rows:
        value = f"{row['value']:.4g}" if isinstance(row["value"], float) else str(row["value"])
        mark = {True: "ok", False: "MISSED", None: ""}[row.get("ok")]
        name = f"{row['bench']:<12}{row['name']:<{width}}"
        print(f"{name}  {value:>10} {row.get('unit', ''):<8} {row.get('target', '')!s:>12}  {mark}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(any(row.get("ok") is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
