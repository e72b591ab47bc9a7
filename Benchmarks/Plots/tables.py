"""Markdown tables of benchmark rows, between markers of a document."""

import re

IDENTITY = ("suite", "keys", "workload", "clients", "durability", "caller", "unit")


def identity(row):
    """What names a row but for the engine."""
    return tuple(row[field] for field in IDENTITY)


def is_rate(row):
    return row.get("opsPerSecond") is not None


def replace_section(text, name, body):
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"docs/BENCHMARKS.md has no markers for {name}")
    return pattern.sub(lambda _: f"{begin}\n{body.strip()}\n{end}", text)


def short(value):
    for limit, divisor, unit in ((1e6, 1e6, "M"), (1e3, 1e3, "k")):
        if value >= limit:
            return f"{value / divisor:.3g}{unit}"
    return f"{value:.3g}"


def advantage(row):
    """How many times better Roost is than this engine in this row."""
    ratio = row.get("ratioToRoost")
    if not ratio:
        return None
    return 1 / ratio if is_rate(row) else ratio


def label(row):
    text = row["workload"]
    if row["clients"] > 1:
        text += f", {row['clients']} clients"
    if row["durability"] == "synced":
        text += ", synced"
    if row["caller"] != "task":
        text += f", {row['caller']}"
    return text if is_rate(row) else f"{text} ({row['unit']})"


def cell(row):
    if row is None:
        return "-"
    figure = row["figure"]
    text = ("~" if row.get("sampledOperations") else "") + short(figure["median"])
    if row["rounds"] > 1:
        text += f" ({short(figure['min'])}-{short(figure['max'])})"
    better = advantage(row)
    if row["engine"] != "roost" and better is not None:
        text += f" **{better:.3g}x**"
    return text


def grid(rows, heading):
    engines, lines = [], {}
    for row in rows:
        if row["engine"] not in engines:
            engines.append(row["engine"])
        lines.setdefault(identity(row), {})[row["engine"]] = row
    if not lines:
        return "*No figures yet.*"
    text = f"| {heading} | " + " | ".join(engines) + " |\n|---"
    text += "|---" * len(engines) + "|\n"
    for line in lines.values():
        cells = " | ".join(cell(line.get(engine)) for engine in engines)
        text += f"| {label(next(iter(line.values())))} | {cells} |\n"
    return text


def by_keys(rows, suite):
    selected = [row for row in rows if row["suite"] == suite]
    sizes = sorted({row["keys"] for row in selected})
    if not sizes:
        return "*No figures yet.*"
    return "\n".join(
        f"### {size:,} keys\n\n" + grid([r for r in selected if r["keys"] == size], "workload")
        for size in sizes
    )


def engines(rows):
    return by_keys(rows, "engines")


def growth(rows):
    return by_keys(rows, "growth")


def dflat(rows, figures):
    """Roost's rows of 40,000 keys in seconds beside Dflat's, scaled by this run's GRDB row."""
    measured = {
        identity(row) + (row["engine"],): row
        for row in rows
        if row["suite"] == "dflat" and row["keys"] == 40_000
    }
    body = by_keys(rows, "dflat")

    def seconds(workload, durability, engine, clients=1):
        for row in measured.values():
            if (
                row["workload"] == workload
                and row["engine"] == engine
                and row["durability"] == durability
                and row["caller"] == "task"
                and row["clients"] == clients
            ):
                return 40_000 / row["figure"]["median"]
        return None

    grdb = seconds("insert-int", "process", "sqlite")
    if grdb is None:
        return body
    scale = grdb / figures["grdbInsertSeconds"]
    body += (
        "\n### Beside Dflat\n\nSeconds for 40,000 operations from a task; Dflat's are its own"
        f" figures, multiplied by {scale:.2f}, which is how much longer GRDB took here.\n\n"
        "| row | Dflat, scaled | Roost | Dflat / Roost |\n|---|---|---|---|\n"
    )
    for workload, durabilities in figures["rows"].items():
        for durability, value in durabilities.items():
            clients = 64 if durability == "synced" else 1
            own = seconds(workload, durability, "roost", clients)
            if own is None:
                continue
            name = workload + (", synced, 64 clients" if durability == "synced" else "")
            theirs = value * scale
            body += f"| {name} | {theirs:.3g} | {own:.3g} | {theirs / own:.3g} |\n"
    return body


# How many times better than GRDB each row is to be: of `Codable` objects, and of `BinaryCodable` ones
# where that is more.
OBJECT_BARS = {
    "insert": (8, 8),
    "insert-10000-together": (2, 2),
    "update": (8, 8),
    "update-indexed": (8, 8),
    "find-hot": (15, 15),
    "find-cold": (5, 5),
    "fetch-unindexed": (2, 4),
    "first-20-of-range": (4, 4),
    "count-range": (1, 1),
    "delete": (8, 8),
    "insert-delete-4-tasks": (8, 8),
    "live-objects": (50, 50),
    "live-ranges": (10, 10),
}

# Dflat's rows of its dictionary, and the row and engine of objects that come nearest.
DFLAT_OBJECTS = {
    "insert-codable": ("insert", "roost"),
    "insert-binary": ("insert", "roost-binary"),
    "update-one-int": ("update", "roost"),
    "read-codable-cold": ("find-cold", "roost"),
    "read-binary-cold": ("find-cold", "roost-binary"),
}


def objects(report, dflat_figures, images):
    """Roost's objects beside GRDB's, row by row with what is to be reached, and beside Dflat's."""
    rows = [row for row in report["rows"] if row["suite"] == "objects"]
    names = {row["engine"] for row in rows}
    engines = {name: text for name, text in report["engines"].items() if name in names}
    body = machine(report) + "\n" + settings({"engines": engines}) + "\n\n"
    body += objects_table(rows) + beside_dflat(rows, dflat_figures)
    return body + "\n" + images_of(images, "objects")


def objects_table(rows):
    lines = {}
    for row in rows:
        lines.setdefault((row["workload"], row["keys"]), {})[row["engine"]] = row
    text = (
        "| row | objects | Codable | BinaryCodable | GRDB | against GRDB | to reach |\n"
        "|---|---|---|---|---|---|---|\n"
    )
    order = list(OBJECT_BARS)
    known = [name for name in lines if name[0] in OBJECT_BARS]
    for workload, keys in sorted(known, key=lambda name: (order.index(name[0]), name[1])):
        line = lines[workload, keys]
        peer = line.get("sqlite")
        cells, against, missed = [], [], False
        for engine, bar in zip(("roost", "roost-binary"), OBJECT_BARS[workload]):
            row = line.get(engine)
            cells.append(figure_with_unit(row))
            if row and peer:
                times = row["figure"]["median"] / peer["figure"]["median"]
                times = times if is_rate(row) else 1 / times
                against.append(f"{times:.3g}x")
                missed = missed or times < bar
        bars = " / ".join(f"{bar}x" for bar in dict.fromkeys(OBJECT_BARS[workload]))
        text += (
            f"| {workload} | {keys:,} | {cells[0]} | {cells[1]} | {figure_with_unit(peer)} |"
            f" {' / '.join(against) or '-'} | {bars}{', missed' if missed else ''} |\n"
        )
    return text + live_commits(lines)


def figure_with_unit(row):
    if row is None:
        return "-"
    spread = row["figure"]
    text = short(spread["median"]) + ("/s" if is_rate(row) else f" {row['unit']}")
    return text + (f" ({short(spread['min'])}-{short(spread['max'])})" if row["rounds"] > 1 else "")


def live_commits(lines):
    """A commit that touches no live query, beside 1,000 of them and beside none."""
    text = ""
    for (workload, keys), line in lines.items():
        alone = lines.get(("commit-beside-none", keys), {})
        if workload != "commit-beside-live":
            continue
        for engine, row in line.items():
            if engine in alone:
                share = row["figure"]["median"] / alone[engine]["figure"]["median"] - 1
                text += (
                    f"- `{engine}`: {short(row['figure']['median'])} commits a second beside 1,000"
                    f" live queries that they do not touch, {short(alone[engine]['figure']['median'])}"
                    f" beside none ({share:+.0%}).\n"
                )
    return "\n" + text if text else ""


def beside_dflat(rows, figures):
    def microseconds(workload, engine, keys=None):
        found = [
            row for row in rows
            if row["workload"] == workload and row["engine"] == engine
            and (keys is None or row["keys"] == keys)
        ]
        return 1e6 / found[0]["figure"]["median"] if found else None

    grdb = microseconds("insert-int", "sqlite")
    if grdb is None:
        return ""
    scale = grdb * 0.04 / figures["grdbInsertSeconds"]
    text = (
        "\nBeside Dflat, in microseconds an operation. Dflat's figures of objects are pictures of a"
        " phone's run; these are of its dictionary, from a run of its code beside GRDB, multiplied by"
        f" {scale:.2f}, which is how much longer GRDB took here. Roost's keep two indexes beside.\n\n"
        "| Dflat's row | Dflat, scaled | Roost's row | Roost | Dflat / Roost |\n|---|---|---|---|---|\n"
    )
    for theirs, (own, engine) in DFLAT_OBJECTS.items():
        spent = microseconds(own, engine)
        if spent is None:
            continue
        dflat_spent = figures["rows"][theirs]["process"] * scale * 25
        text += (
            f"| {theirs} | {dflat_spent:.3g} | {own}, {engine} | {spent:.3g} |"
            f" {dflat_spent / spent:.3g} |\n"
        )
    return text


def images_of(paths, name):
    return "\n".join(f"![{p.stem}](benchmarks/{p.name})" for p in paths if p.stem == name)


def losses(rows):
    """A line for each row in which another engine is better, the worst first."""
    if not rows:
        return "*No figures yet.*"
    own = {identity(row): row for row in rows if row["engine"] == "roost"}
    lost = {}
    for row in rows:
        share = advantage(row)
        if row["engine"] != "roost" and share is not None and share < 1:
            lost.setdefault(identity(row), []).append((share, row))
    if not lost:
        return "None in this run."
    text = "| suite, keys | row | Roost | better, by how many times |\n|---|---|---|---|\n"
    for name, ahead in sorted(lost.items(), key=lambda item: min(share for share, _ in item[1])):
        mine = own[name]
        engines = ", ".join(
            f"{row['engine']} {1 / share:.3g}x"
            for share, row in sorted(ahead, key=lambda pair: pair[0])
        )
        text += (
            f"| {mine['suite']}, {mine['keys']:,} | {label(mine)} |"
            f" {short(mine['figure']['median'])} | {engines} |\n"
        )
    return text


def machine(report):
    if not report["machines"]:
        return "*No figures yet.*"
    lines = []
    for one in report["machines"]:
        line = (
            f"- {one['processor']}, {one['cores']} cores, {one['memoryMiB'] / 1024:.0f} GiB,"
            f" {one['system']}, {one['date'][:10]}"
        )
        if line not in lines:
            lines.append(line)
    return "\n".join(lines)


def settings(report):
    return "\n".join(f"- `{name}`: {text}" for name, text in report["engines"].items())


def images(paths):
    if not paths:
        return "*No figures yet.*"
    return "\n\n".join(f"![{path.stem}](benchmarks/{path.name})" for path in paths)
