# SPDX-License-Identifier: Apache-2.0
"""One change: compiled, linked, and held to the quick tests, which stop at the first that fails."""

import os
import resource
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from build import Build
from reach import Reach
from sites import Site

MEMORY = 6 << 30
GOLDEN_SECONDS = 30  # of a processor, for one program of a golden case; they take less than one
ASLEEP = 60  # seconds of the clock in which nothing that was started gets on


def limited(seconds: int):
    """Of a processor and not of the clock, so that a busy machine kills nothing."""

    def apply():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        os.setsid()

    return apply


def end_group(group: int):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def ticks(session: int) -> int:
    """Of a processor, by all processes of a session and their children that ended."""
    total = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()  # from `state` on: proc(5)
        except OSError:
            continue
        if int(words[3]) == session:
            total += sum(map(int, words[11:15]))
    return total


def run(words: list[str], root: Path, seconds: int) -> bool:
    """Whether a command ends well; all it started ends with it. 77 is well, too: some case cannot be tried
    on this machine."""
    process = subprocess.Popen(
        words,
        cwd=root,
        env={**os.environ, "TTCHECK_SOURCE_DIR": str(root), "OMP_NUM_THREADS": "2"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limited(seconds),
    )
    seen = -1
    while True:
        try:
            code = process.wait(ASLEEP)
            break
        except subprocess.TimeoutExpired:
            if (now := ticks(process.pid)) <= seen:
                end_group(process.pid)
            seen = now
    end_group(process.pid)
    return code in (0, 77)


class Trial:
    """The quick tests of one build. A change may take three times what they take without it."""

    def __init__(self, build: Build, reach: Reach):
        self.build, self.root, self.reach = build, build.root, reach

    def stages(self, site: Site, units: Path, program: Path):
        """Name, command, most seconds of a processor: the cheapest first."""
        tests = self.reach.tests
        if site.first_line > 0:
            tests = self.reach.through(site.path, site.first_line, site.last_line)
        room = str(Path(site.path).parent)
        names = {stage: [name for of, name in tests if of == stage] for stage in ("units", "golden")}
        own = [name for name in names["units"] if str(Path(name).parent) == room]
        far = [name for name in names["units"] if name.startswith(("formats/", "cli/"))]
        near = [name for name in names["units"] if name not in own and name not in far]
        for stage, files in ("own", own), ("units", near), ("golden", names["golden"]), ("far", far):
            if not files:
                continue
            if stage == "golden":
                yield stage, ["bash", "tests/mutants/golden", str(program), *files], GOLDEN_SECONDS
                continue
            patterns = ",".join(f"*/unit/{name}" for name in files)
            seconds = 5 + 3 * sum(self.reach.seconds["units", name] for name in files)
            quiet = [str(units), "--abort-after=1", "--no-breaks=true", "--minimal=true"]
            yield stage, [*quiet, f"--source-file={patterns}"], int(seconds)

    def run(self, site: Site) -> str:
        """`invalid` (does not compile), the stage that failed, or `survived`."""
        overlay = Path(tempfile.mkdtemp(prefix="mutant-"))
        try:
            text = overlay / site.path
            text.parent.mkdir(parents=True)
            text.write_bytes(site.apply((self.root / site.path).read_bytes()))
            made = self.build.compile(site.path, overlay)
            if made is None:
                return "invalid"
            (overlay / "bin").mkdir()
            units, program = overlay / "bin/unit_tests", overlay / "bin/ttcheck"
            if not self.build.link("unit_tests", made, units):
                return "invalid"
            for name, words, seconds in self.stages(site, units, program):
                if name == "golden" and not self.build.link("ttcheck", made, program):
                    return "invalid"
                if not run(words, self.root, seconds):
                    return name
            return "survived"
        finally:
            shutil.rmtree(overlay)
