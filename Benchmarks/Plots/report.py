"""Tables for docs/BENCHMARKS.md and plots for docs/benchmarks, from roost-bench's JSON files."""

import json
import pathlib
import sys

import plots
import tables


def load(paths):
    """All reports as one; of two files with the same row the later counts."""
    machines, engines, rows = [], {}, {}
    for path in paths:
        report = json.loads(pathlib.Path(path).read_text())
        machines.append(report["machine"])
        engines.update(report["engines"])
        for row in report["rows"]:
            rows[tables.identity(row) + (row["engine"],)] = row
    return {"machines": machines, "engines": engines, "rows": list(rows.values())}


def main():
    root = pathlib.Path(sys.argv[1])
    if len(sys.argv) < 3:
        sys.exit("usage: plot-benchmarks FILE.json...")
    report = load(sys.argv[2:])
    dflat = json.loads((root / "Benchmarks/dflat-figures.json").read_text())
    directory = root / "docs/benchmarks"
    directory.mkdir(exist_ok=True)
    images = plots.draw_all(report["rows"], directory)
    document = root / "docs/BENCHMARKS.md"
    sections = {
        "machine": tables.machine(report),
        "settings": tables.settings(report),
        "losses": tables.losses(report["rows"]),
        "dflat": tables.dflat(report["rows"], dflat),
        "engines": tables.engines(report["rows"]),
        "growth": tables.growth(report["rows"]),
        "plots": tables.images(images),
    }
    text = document.read_text()
    for name, body in sections.items():
        text = tables.replace_section(text, name, body)
    document.write_text(text)
    print(f"{document}: {len(report['rows'])} rows; {len(images)} plots in {directory}")


if __name__ == "__main__":
    main()
