"""One change: compiled, linked, and held to the quick tests, which stop at the first that fails."""

import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from build import Build
from sites import Site

MEMORY = 6 << 30


def limited(seconds: float):
    def apply():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.setsid()

    return apply


def passes(words: list[str], root: Path, seconds: float, **environment: str) -> bool:
    """Whether a command ends well in time; all it started ends with it."""
    process = subprocess.Popen(
        words,
        cwd=root,
        env={**os.environ, "TTCHECK_SOURCE_DIR": str(root), "OMP_NUM_THREADS": "2", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limited(seconds),
    )
    try:
        return process.wait(timeout=seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
        process.wait()


class Trial:
    """The quick tests of one build. `limits` are seconds by stage: several times what they take."""

    def __init__(self, build: Build):
        self.build, self.root = build, build.root
        self.cases = sorted(path.parent.name for path in (self.root / "tests/golden").glob("*/command"))
        self.limits = {"own": 60.0, "units": 300.0, "golden": 600.0}

    def stages(self, room: str, units: Path, program: Path):
        """Name, command: the cheapest first."""
        quiet = [str(units), "--abort-after=1", "--no-breaks=true", "--minimal=true"]
        yield "own", [*quiet, f"--source-file=*/unit/{room}/*"]
        yield "units", [*quiet, f"--source-file-exclude=*/unit/{room}/*"]
        yield "golden", ["bash", "tests/mutants/golden", str(program), *self.cases]

    def measure(self):
        """Sets the limits by the tests unchanged; throws where they fail."""
        units, program = self.build.folder / "tests/unit_tests", self.build.folder / "ttcheck"
        for name, words in self.stages("core/*", units, program):
            from_ = time.monotonic()
            if not passes(words, self.root, 1200):
                raise SystemExit(f"mutants: the tests fail without a change: {' '.join(words[:6])}")
            self.limits[name] = 20 + 6 * (time.monotonic() - from_)
        self.limits["own"] = self.limits["own"] + self.limits["units"]

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
            for name, words in self.stages(str(Path(site.path).parent), units, program):
                if name == "golden" and not self.build.link("ttcheck", made, program):
                    return "invalid"
                if not passes(words, self.root, self.limits[name]):
                    return name
            return "survived"
        finally:
            shutil.rmtree(overlay)
