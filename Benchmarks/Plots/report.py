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
    objects = [row for row in report["rows"] if row["suite"] == "objects"]
    sections = {}
    # What a run did not measure keeps the figures of the one that did.
    if objects:
        sections["objects"] = tables.objects(report, dflat, images)
    if len(objects) < len(report["rows"]):
        sections |= keys_and_values(report, dflat, images, directory)
    text = document.read_text()
    for name, body in sections.items():
        text = tables.replace_section(text, name, body)
    document.write_text(text)
    print(f"{document}: {len(report['rows'])} rows; {len(images)} plots in {directory}")


def keys_and_values(report, dflat, images, directory):
    """The sections of all suites but that of objects, whose plots stand with its tables."""
    others = {
        **report,
        "rows": [row for row in report["rows"] if row["suite"] != "objects"],
    }
    measured = {row["suite"] for row in others["rows"]}
    # What a run did not measure keeps its figures and its plot.
    kept = [directory / f"{suite}.svg" for suite in ("dflat", "growth") if suite not in measured]
    drawn = [path for path in images if path.stem != "objects"]
    sections = {
        "machine": tables.machine(others),
        "losses": tables.losses(others["rows"]),
        "plots": tables.images(drawn + [path for path in kept if path.exists()]),
    }
    if "dflat" in measured:
        sections["settings"] = tables.settings(others)
        sections["dflat"] = tables.dflat(others["rows"], dflat)
    if "engines" in measured:
        sections["engines"] = tables.engines(others["rows"])
    if "growth" in measured:
        sections["growth"] = tables.growth(others["rows"])
    return sections


if __name__ == "__main__":
    main()
