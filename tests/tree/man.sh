#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The man pages are well-formed mdoc. Run from the root of the repository; 77: no mandoc here.
set -uo pipefail

if ! command -v mandoc >/dev/null; then
  echo "skipped: no mandoc"
  exit 77
fi
said=$(mandoc -T lint -W warning man/*.[157] 2>&1)
printf '%s' "$said"
[ -z "$said" ]
