# SPDX-License-Identifier: Apache-2.0
"""What the program says of two runs, as the attackers ask for it."""
import json
import os
import subprocess

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")


def diff(program, a, b, *flags):
    """Exit code and JSON; of a crash the code and a verdict of that name."""
    told = subprocess.run([program, "diff", "--json", "--threads", "1", *flags, "--", a, b],
                          capture_output=True, text=True, timeout=120)
    if told.returncode not in (0, 1, 2, 3):
        return told.returncode, {"verdict": "crash", "complete": False, "findings": [], "facts": []}
    return told.returncode, json.loads(told.stdout)


def messages(said):
    return [finding["message"] for finding in said["findings"] if finding["severity"] != "note"]
