# SPDX-License-Identifier: Apache-2.0
"""A change compiled and linked beside the tree: sources are never touched.

The changed file lies in a folder of its own that is searched for includes before the tree; the
objects that need it are compiled anew and stand before the libraries on the linker's line, which
then takes nothing of that name out of them.
"""

import json
import shlex
import subprocess
from pathlib import Path

# Not worth the time for what is run once.
DROPPED = {"-g", "-Og", "-O1", "-O2", "-O3", "-Werror"}
MOST_OBJECTS = 6  # of a header's users that are compiled for one change


def is_kept(word: str) -> bool:
    return word not in DROPPED and not (word.startswith("-W") and not word.startswith("-Wl,"))


class Build:
    """A build folder made with Ninja and without unity; `root` is the repository."""

    def __init__(self, root: Path, folder: Path):
        self.root, self.folder = root, folder
        entries = json.loads((folder / "compile_commands.json").read_text())
        self.commands = {self.source(entry): shlex.split(entry["command"]) for entry in entries}
        self.objects = {self.source(entry): entry["output"] for entry in entries}
        self.links = {name: self.link_line(name) for name in ("unit_tests", "ttcheck")}
        self.users = self.read_users()

    def source(self, entry) -> str:
        return str(Path(entry["file"]).resolve().relative_to(self.root))

    def ninja(self, *words: str) -> str:
        return subprocess.run(
            ["ninja", "-C", str(self.folder), *words], check=True, capture_output=True, text=True
        ).stdout

    def link_line(self, target: str) -> list[str]:
        line = [text for text in self.ninja("-t", "commands", target).splitlines() if " -o " in text]
        words = shlex.split(line[-1].removeprefix(": && ").split(" && ")[0])
        return [word for word in words if word != "-g"]

    def read_users(self) -> dict[str, list[str]]:
        """Header -> the sources whose objects need it."""
        sources = {self.objects[source]: source for source in self.objects}
        users: dict[str, list[str]] = {}
        source = None
        for line in self.ninja("-t", "deps").splitlines():
            if line and not line.startswith(" "):
                source = sources.get(line.split(": #deps")[0])
            elif source and line.strip():
                path = (self.folder / line.strip()).resolve()
                if path.is_relative_to(self.root):
                    users.setdefault(str(path.relative_to(self.root)), []).append(source)
        return users

    def compiler_words(self, source: str) -> list[str]:
        """For clang's parser: includes and definitions only."""
        words, kept = self.commands[source][1:], []
        while words:
            word = words.pop(0)
            if word in ("-I", "-isystem", "-include"):
                kept += [word, words.pop(0)]
            elif word.startswith(("-I", "-D", "-std", "-m", "-isystem")):
                kept.append(word)
        return [*kept, "-Wno-everything"]

    def needs(self, path: str) -> list[str]:
        if path in self.commands:
            return [path]
        return [source for source in self.users.get(path, []) if source in self.commands]

    def compile(self, path: str, overlay: Path) -> dict[str, Path] | None:
        """Source -> object of all that needs the changed file; None where one does not compile."""
        made = {}
        for source in self.needs(path):
            text = overlay / source if source == path else self.root / source
            out = overlay / (source.replace("/", "_") + ".o")
            words = [*self.compiler(source), f"-I{overlay}", *self.compile_flags(source)]
            words += ["-O0", "-g0", "-w", "-c", str(text), "-o", str(out)]
            if subprocess.run(words, cwd=self.folder, capture_output=True).returncode != 0:
                return None
            made[source] = out
        return made

    def compiler(self, source: str) -> list[str]:
        """The compiler alone: a cache would fill with what is never asked for again."""
        return [next(word for word in self.commands[source] if word.endswith(("++", "g++", "++-19")))]

    def compile_flags(self, source: str) -> list[str]:
        words = self.commands[source]
        words = words[words.index(self.compiler(source)[0]) + 1 :]
        at = words.index("-o")
        words = words[:at] + words[at + 2 :]
        return [word for word in words if is_kept(word) and word != "-c" and not word.endswith(source)]

    def link(self, target: str, made: dict[str, Path], out: Path) -> bool:
        words = list(self.links[target])
        words[words.index("-o") + 1] = str(out)
        first = next(at for at, word in enumerate(words) if word.endswith((".o", ".a")))
        for source, path in made.items():
            own = self.objects[source]
            if own in words:
                words[words.index(own)] = str(path)
            elif not source.startswith("tests/"):
                words.insert(first, str(path))
        words += ["-Wl,-s"]
        return subprocess.run(words, cwd=self.folder, capture_output=True).returncode == 0
