"""One change: compiled, linked, and held to the quick tests, which stop at the first that fails."""

import os
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

from build import Build
from sites import Site

MEMORY = 6 << 30
GOLDEN_SECONDS = 30  # of a processor, for one program of a golden case; they take less than one
HANGING = 1800  # seconds of the clock: asleep, or a machine that is very busy


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


def run(words: list[str], root: Path, seconds: int) -> tuple[bool, float]:
    """Whether a command ends well, and the seconds of a processor it took; all it started ends with it.
    77 is well, too: some case cannot be tried on this machine."""
    process = subprocess.Popen(
        words,
        cwd=root,
        env={**os.environ, "TTCHECK_SOURCE_DIR": str(root), "OMP_NUM_THREADS": "2"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limited(seconds),
    )
    timer = threading.Timer(HANGING, end_group, [process.pid])
    timer.start()
    _, status, used = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    end_group(process.pid)
    return process.returncode in (0, 77), used.ru_utime + used.ru_stime


class Trial:
    """The quick tests of one build. A change may take three times what they take without it."""

    def __init__(self, build: Build):
        self.build, self.root = build, build.root
        self.cases = sorted(path.parent.name for path in (self.root / "tests/golden").glob("*/command"))
        self.seconds: dict[tuple[str, str], int] = {}
        self.lock = threading.Lock()

    def stages(self, room: str, units: Path, program: Path):
        """Name, command: the cheapest first."""
        quiet = [str(units), "--abort-after=1", "--no-breaks=true", "--minimal=true"]
        yield "own", [*quiet, f"--source-file=*/unit/{room}/*"]
        yield "units", [*quiet, f"--source-file-exclude=*/unit/{room}/*"]
        yield "golden", ["bash", "tests/mutants/golden", str(program), *self.cases]

    def limit_of(self, stage: str, room: str) -> int:
        """Measured once; throws where the tests fail without a change."""
        if stage == "golden":
            return GOLDEN_SECONDS
        with self.lock:
            if (stage, room) not in self.seconds:
                units, program = self.build.folder / "tests/unit_tests", self.build.folder / "ttcheck"
                words = dict(self.stages(room, units, program))[stage]
                well, took = run(words, self.root, HANGING)
                if not well:
                    raise SystemExit(f"mutants: the tests fail without a change: {' '.join(words)}")
                self.seconds[stage, room] = int(5 + 3 * took)
            return self.seconds[stage, room]

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
            room = str(Path(site.path).parent)
            for name, words in self.stages(room, units, program):
                if name == "golden" and not self.build.link("ttcheck", made, program):
                    return "invalid"
                if not run(words, self.root, self.limit_of(name, room))[0]:
                    return name
            return "survived"
        finally:
            shutil.rmtree(overlay)
