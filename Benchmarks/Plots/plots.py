"""Plots of benchmark rows: bars for workloads, curves for growth. SVG and PNG of each."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

COLORS = {
    "roost": "#d1495b",
    "roost-binary": "#8f2d56",
    "sqlite": "#30638e",
    "lmdb": "#003d5b",
    "lmdb-writemap": "#4f86a8",
    "rocksdb": "#00798c",
    "leveldb": "#66a182",
    "tkrzw": "#edae49",
    "plist": "#8d8d8d",
    "user-defaults": "#b5b5b5",
    "json-actor": "#5f5f5f",
}

# Plot, title, and the workloads whose rows it shows.
GROUPS = [
    ("writes", "Writes at process durability", ("fill-sequential", "fill-random", "overwrite", "batch")),
    ("reads", "Reads", ("read", "first-touch", "absent")),
    ("ycsb", "YCSB", ("ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f")),
    ("durable", "Each write on disk before it returns", ("durable", "durable-batch")),
    ("scan", "Full scan, in the order of the keys where the engine has one", ("scan",)),
]


def save(figure, directory, name):
    """Both forms, without dates, so that equal figures give equal files."""
    figure.tight_layout()
    figure.savefig(directory / f"{name}.svg", metadata={"Date": None})
    figure.savefig(directory / f"{name}.png", dpi=110, metadata={"Software": None})
    plt.close(figure)
    return directory / f"{name}.svg"


def label(row):
    text = row["workload"]
    if row["clients"] > 1:
        text += f"\n{row['clients']} clients"
    if row["caller"] != "task":
        text += f"\n{row['caller']}"
    if row["durability"] == "synced" and row["suite"] == "dflat":
        text += "\nsynced"
    return text


def bars(rows, title, directory, name):
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    labels = list(dict.fromkeys(label(row) for row in rows))
    figure, axes = plt.subplots(figsize=(max(7, 1.3 * len(labels) + 2), 4.2))
    width = 0.8 / len(engines)
    for number, engine in enumerate(engines):
        own = {label(row): row["figure"] for row in rows if row["engine"] == engine}
        places = [i + (number - len(engines) / 2 + 0.5) * width for i, l in enumerate(labels) if l in own]
        figures = [own[l] for l in labels if l in own]
        medians = [f["median"] for f in figures]
        spread = [
            [f["median"] - f["min"] for f in figures],
            [f["max"] - f["median"] for f in figures],
        ]
        axes.bar(
            places, medians, width, yerr=spread, label=engine, color=COLORS.get(engine),
            error_kw={"linewidth": 0.7},
        )
    axes.set_yscale("log")
    axes.set_ylabel("operations a second")
    axes.set_xticks(range(len(labels)), labels, fontsize=8)
    axes.set_title(title, fontsize=11)
    axes.grid(axis="y", linewidth=0.3)
    axes.legend(fontsize=7, ncols=5, loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False)
    return save(figure, directory, name)


def curves(rows, directory):
    """Time per operation by the number of keys, a panel for each workload."""
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    figure, panels = plt.subplots(
        1, len(workloads), figsize=(3.1 * len(workloads), 3.6), squeeze=False)
    for axes, workload in zip(panels[0], workloads):
        own = [row for row in rows if row["workload"] == workload]
        for engine in dict.fromkeys(row["engine"] for row in own):
            points = sorted((r["keys"], r["figure"]) for r in own if r["engine"] == engine)
            sizes = [size for size, _ in points]
            color = COLORS.get(engine)
            axes.plot(
                sizes, [1e9 / f["median"] for _, f in points], marker="o", markersize=3,
                label=engine, color=color)
            axes.fill_between(
                sizes, [1e9 / f["max"] for _, f in points], [1e9 / f["min"] for _, f in points],
                color=color, alpha=0.15, linewidth=0)
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_title(workload, fontsize=9)
        axes.set_xlabel("keys", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.grid(linewidth=0.3)
    panels[0][0].set_ylabel("nanoseconds an operation", fontsize=8)
    panels[0][0].legend(fontsize=7)
    return save(figure, directory, "growth")


def draw_all(rows, directory):
    matplotlib.rcParams["svg.hashsalt"] = "roost"
    images = []
    rates = [row for row in rows if row.get("opsPerSecond") is not None]
    table = [row for row in rates if row["suite"] == "engines"]
    for size in sorted({row["keys"] for row in table}):
        for name, title, workloads in GROUPS:
            own = [r for r in table if r["keys"] == size and r["workload"] in workloads]
            if own:
                title_of_size = f"{title}: {size:,} keys"
                images.append(bars(own, title_of_size, directory, f"engines-{name}-{size}"))
    own = [row for row in rates if row["suite"] == "dflat"]
    if own:
        images.append(bars(
            [r for r in own if r["caller"] == "task"], "Dflat's table, from a task", directory,
            "dflat"))
    own = [row for row in rates if row["suite"] == "objects" and row["workload"] != "insert-int"]
    if own:
        size = max(row["keys"] for row in own if row["workload"] == "insert")
        images.append(bars(
            [r for r in own if r["keys"] == size], f"Objects with two indexes: {size:,}",
            directory, "objects"))
    own = [row for row in rates if row["suite"] == "growth" and row["clients"] == 1]
    if own:
        images.append(curves(own, directory))
    return images
