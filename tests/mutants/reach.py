# SPDX-License-Identifier: Apache-2.0
"""Which tests come through which lines: each file of units and each golden case is run once, in the build
`trace`, whose code notes where it was (tests/mutants/trace.cpp). Kept beside that build until it changes.
"""

import array
import functools
import json
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAMS = {"units": "tests/unit_tests", "golden": "ttcheck"}


class Reach:
    """`lines[path]`: line -> the tests that come there, as bits; bit i is tests[i], (stage, name)."""

    def __init__(self, root: Path, folder: Path, cases: list[str], jobs: int):
        self.root, self.folder = root, folder
        there = root / "tests/unit"
        units = sorted(str(path.relative_to(there)) for path in there.rglob("*_test.cpp"))
        self.tests = [("units", name) for name in units] + [("golden", name) for name in cases]
        kept, stamp = folder / "reach.json", self.stamp()
        found = json.loads(kept.read_text()) if kept.exists() else {}
        if found.get("stamp") != stamp:
            found = {"stamp": stamp, **self.measured(jobs)}
            kept.write_text(json.dumps(found))
        self.seconds = dict(zip(self.tests, found["seconds"]))
        self.lines = {path: {int(line): int(bits, 16) for line, bits in lines.items()}
                      for path, lines in found["lines"].items()}

    def stamp(self) -> list:
        return [[(self.folder / name).stat().st_mtime_ns for name in PROGRAMS.values()],
                [list(test) for test in self.tests]]

    def measured(self, jobs: int) -> dict:
        with ThreadPoolExecutor(jobs) as pool:
            runs = list(pool.map(self.trace, self.tests))
        lines: dict[str, dict[int, int]] = {}
        for stage, program in PROGRAMS.items():
            places: dict[int, int] = {}
            for bit, test in enumerate(self.tests):
                for place in runs[bit][0] if test[0] == stage else ():
                    places[place] = places.get(place, 0) | 1 << bit
            for place, (path, line) in self.sources(program, sorted(places)):
                there = lines.setdefault(path, {})
                there[line] = there.get(line, 0) | places[place]
        written = {path: {line: f"{bits:x}" for line, bits in there.items()}
                   for path, there in lines.items()}
        sources = [str(path.relative_to(self.root)) for path in (self.root / "core").rglob("*.cpp")]
        if 2 * sum(path in lines for path in sources) < len(sources):
            raise SystemExit(f"mutants: {self.folder} does not say where its code comes from")
        return {"seconds": [seconds for _, seconds in runs], "lines": written}

    def command(self, test) -> list[str]:
        stage, name = test
        program = str(self.folder / PROGRAMS[stage])
        if stage == "units":
            return [program, "--no-breaks=true", f"--source-file=*/unit/{name}"]
        return ["bash", "tests/golden/run", program, name]

    def trace(self, test) -> tuple[set[int], float]:
        """The places a test comes through, and its seconds of the clock."""
        with tempfile.TemporaryDirectory() as folder:
            settings = {"TTCHECK_TRACE": folder, "TTCHECK_SOURCE_DIR": str(self.root), "OMP_NUM_THREADS": "2"}
            began = time.monotonic()
            done = subprocess.run(self.command(test), cwd=self.root, env={**os.environ, **settings},
                                  stdin=subprocess.DEVNULL, capture_output=True)
            if done.returncode not in (0, 77):
                raise SystemExit(f"mutants: fails without a change: {' '.join(self.command(test))}")
            seconds, places = time.monotonic() - began, set()
            for path in Path(folder).iterdir():
                if (content := path.read_bytes()) and len(content) % 4 == 0:
                    places.update(array.array("I", content))
            return places, seconds

    def sources(self, program: str, places: list[int]):
        """Yields (place, (path, line)) of those that lie in the tree."""
        done = subprocess.run(["addr2line", "-e", str(self.folder / program)], check=True, text=True,
                              input="".join(f"{place - 1:x}\n" for place in places), capture_output=True)
        for place, text in zip(places, done.stdout.splitlines()):
            path, _, line = text.split(" (")[0].rpartition(":")
            if line.isdigit() and (found := self.in_tree(path)):
                yield place, (found, int(line))

    @functools.cache
    def in_tree(self, path: str) -> str | None:
        """Compilers and their caches name a source from here or there: the end of the path counts."""
        words = os.path.normpath(path).split("/")
        ends = ("/".join(words[at:]) for at in range(len(words)))
        return next((end for end in ends if "/" in end and (self.root / end).is_file()), None)

    def through(self, path: str, first: int, last: int) -> list[tuple[str, str]]:
        """The tests that come through a stretch of lines."""
        bits = 0
        for line, there in self.lines.get(path, {}).items():
            bits |= there if first <= line <= last else 0
        return [test for bit, test in enumerate(self.tests) if bits >> bit & 1]
