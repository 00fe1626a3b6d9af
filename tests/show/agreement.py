# SPDX-License-Identifier: Apache-2.0
"""Whether the commands agree on a pair: `show` of a record says what `diff` says of it, and so do a diff that reports some
names only, a diff of one step, `bisect` of the steps and of their ops, and `calibrate` of a clean pair (B2, B4, B5, B7)."""
import json
import subprocess

SAID = "verdict", "ratio", "test", "limit", "error"
FILTERS = "**bias**", "**/output.0", "**weight**"


def told(program, *words):
    got = subprocess.run([program, *words, "--json", "--threads", "1"], capture_output=True)
    return json.loads(got.stdout)


def rows(report):
    return {(row["step"], row["phase"], row["microbatch"], row["name"]): row for row in report["tensors"]}


def said(row):
    """Of one that is equal no limit matters."""
    return [row[word] for word in SAID] if row["verdict"] != "equal" else ["equal"]


class Pair:
    """Two runs, held to each other with these flags; `most` records are shown."""

    def __init__(self, program, reference, candidate, flags=(), most=12):
        self.program, self.sides, self.flags, self.most = program, (reference, candidate), tuple(flags), most
        self.looked, self.faults = 0, []
        report = self.told("diff", "--all")
        self.whole, self.first, self.verdict = rows(report), report["first"], report["verdict"]

    def told(self, command, *words):
        return told(self.program, command, *self.sides, *self.flags, *words)

    def of_names(self):
        """The flags that tell how names meet; calibrate has no limits to be told."""
        pairs = zip(self.flags[::2], self.flags[1::2])
        return [word for flag, value in pairs if flag in ("--map", "--layout") for word in (flag, value)]

    def check(self, right, words):
        self.looked += 1
        if not right:
            self.faults.append(f"{' '.join(self.sides)} {words}")

    def check_all(self):
        self.check_shown()
        self.check_filters()
        self.check_steps()
        self.check_ops()
        if self.verdict in ("equal", "noise"):
            measured = told(self.program, "calibrate", *self.sides, *self.of_names())["verdict"]
            self.check(measured in ("equal", "noise"), f"calibrate: {measured}, diff finds nothing")
        return self.looked, self.faults

    def check_shown(self):
        seen = [key for key, row in self.whole.items() if row["verdict"] != "equal" and row["rule"] != "hash"]
        for key in seen[::max(1, len(seen) // self.most)]:
            where = []
            for word, value in zip(("--step", "--phase", "--microbatch"), key):
                if value is not None:
                    where += [word, str(value)]
            shown = told(self.program, "show", self.sides[0], key[3], self.sides[1], *self.flags, *where, "--all")
            own = [one for one in shown["tensors"] if one["name"] == key[3]]
            row = self.whole[key]
            self.check([said(one) for one in own] == [said(row)], f"{key}: diff says {said(row)}, show {[said(one) for one in own]}")

    def check_filters(self):
        for glob in FILTERS:
            for key, row in rows(self.told("diff", "--all", "--include", glob)).items():
                whole = self.whole.get(key)
                self.check(whole and said(row) == said(whole), f"--include {glob} {key}: {said(row)}, without it {whole and said(whole)}")

    def check_steps(self):
        steps = sorted({key[0] for key in self.whole if key[0] is not None})
        if len(steps) < 2:
            return
        for step in steps:
            for key, row in rows(self.told("diff", "--all", "--step", str(step))).items():
                whole = self.whole.get(key)
                self.check(whole and row["verdict"] == whole["verdict"], f"--step {step} {key}: {row['verdict']}, without it {whole and whole['verdict']}")
        if self.verdict == "not-comparable":
            return  # what makes it so stands in the first step
        bad = [step for step in steps if any(key[0] == step and row["verdict"] == "diverged" for key, row in self.whole.items())]
        found = self.told("bisect", "--over", "steps").get("bisect")
        found = found and found["first_bad"]
        self.check(found == (bad[0] if bad else None), f"bisect: first bad {found}, diff says {bad[:1]}")

    def check_ops(self):
        searched = self.told("bisect", "--over", "ops")
        if not searched.get("bisect"):  # no traces
            return
        places = [one and (one["step"], one["phase"], one["tensor"]) for one in (self.first, searched["first"])]
        self.check(places[0] == places[1], f"bisect over ops: first {places[1]}, diff says {places[0]}")
