#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The list of changes that change nothing (tests/mutants.md) is not stale: what a row says was taken
# out still stands in its file, no row is there twice, and each row is one that the tool can read.
# usage: tests/tree/mutants.sh [ROOT]    of the repository, for trying it out; else run from there
set -uo pipefail
cd "${1:-.}" || exit 1

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/mutants python3 - <<'PYTHON'
import sys
from pathlib import Path
from known import known_changes

listed = Path("tests/mutants.md")
wrong = []
squeezed = {}
known = known_changes(listed)
for path, taken, put in known:
    if path not in squeezed:
        there = Path(path).exists()
        squeezed[path] = " ".join(Path(path).read_text().split()) if there else ""
    if taken.replace("⟦", "").replace("⟧", "") not in squeezed[path]:
        wrong.append(f"{path} does not have: {taken}")
rows = [line for line in listed.read_text().splitlines() if line.startswith("| `")]
if len(rows) != len(known):
    wrong.append(f"{len(rows)} rows, of which {len(known)} can be read or differ")
for line in wrong:
    print(f"tests/mutants.md: {line}")
sys.exit(1 if wrong else 0)
PYTHON
