#!/usr/bin/env python3
"""Makes packages.jsonl from the package index of a Debian machine. See README.md.

Reads `apt-cache dumpavail` from standard input and writes the fixture to standard output:

    apt-cache dumpavail | python3 make-packages.py > packages.jsonl
"""

import hashlib
import json
import re
import sys

PACKAGE_COUNT = 3000
# No one section fills the fixture, so that names, sizes and dependencies vary.
SECTION_SHARE = 0.08
FIELDS = ("Package", "Version", "Section", "Installed-Size", "Depends")


def stanzas(lines):
    """Yields each package's wanted fields; continued lines belong to fields not wanted."""
    fields = {}
    for line in lines:
        if not line.strip():
            if fields:
                yield fields
            fields = {}
        elif not line[0].isspace():
            name, _, value = line.partition(":")
            if name in FIELDS:
                fields.setdefault(name, value.strip())
    if fields:
        yield fields


def dependency_names(text):
    """The names in a Depends field, each once, in order; versions and architectures dropped."""
    names = []
    for alternative in re.split(r"[,|]", text):
        name = alternative.strip().split(" ")[0].split(":")[0]
        if name and name not in names:
            names.append(name)
    return names


def rank(name):
    """Spreads the choice evenly over the alphabet, the same on every machine."""
    return hashlib.sha256(name.encode()).digest()


def choose(packages):
    chosen, per_section = [], {}
    limit = int(PACKAGE_COUNT * SECTION_SHARE)
    for package in sorted(packages, key=lambda package: rank(package["Package"])):
        section = package.get("Section", "")
        if per_section.get(section, 0) < limit:
            per_section[section] = per_section.get(section, 0) + 1
            chosen.append(package)
        if len(chosen) == PACKAGE_COUNT:
            break
    return sorted(chosen, key=lambda package: package["Package"])


def record(package):
    value = {
        "version": package["Version"],
        "section": package.get("Section", ""),
        "installedSizeKibibytes": int(package.get("Installed-Size", "0")),
        "dependencies": dependency_names(package.get("Depends", "")),
    }
    return {"dictionary": "packages", "key": package["Package"], "value": value}


def main():
    newest = {}
    for package in stanzas(sys.stdin):
        # An index may list several versions; the first is the one that would be installed.
        if "Package" in package and "Version" in package:
            newest.setdefault(package["Package"], package)
    for package in choose(newest.values()):
        line = json.dumps(record(package), ensure_ascii=False, separators=(",", ":"))
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
