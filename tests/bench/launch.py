# SPDX-License-Identifier: Apache-2.0
"""Starts the commands that it is told, a JSON list of words a line, and answers each with its wall time, its processor time
(seconds), its resident memory (KiB) and its exit code. It is small: the memory of what a process starts is counted from its
own."""
import json
import os
import subprocess
import sys
import time

for line in sys.stdin:
    words = json.loads(line)
    start = time.perf_counter()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    print(json.dumps([wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, process.returncode]), flush=True)
