# SPDX-License-Identifier: Apache-2.0
"""The list of changes that change nothing: tests/mutants.md, one row of a table each."""

import re
from pathlib import Path

ROW = re.compile(r"^\| `([^`]+)` \| `` (.+?) `` \| `` (.+?) `` \| (.+) \|$")


def known_changes(path: Path) -> dict[tuple[str, str, str], str]:
    """(file, what is taken out, what stands in its place) -> the reason."""
    rows = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if match := ROW.match(line):
            rows[match[1], match[2].replace("\\|", "|"), match[3].replace("\\|", "|")] = match[4]
    return rows


def row_of(key: tuple[str, str, str], reason: str) -> str:
    path, taken, put = (word.replace("|", "\\|") for word in key)
    return f"| `{path}` | `` {taken} `` | `` {put} `` | {reason} |"
