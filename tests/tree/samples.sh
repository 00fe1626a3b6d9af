#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# samples/README.md names every maker of samples and what it needs. Run from the root of the repository.
set -uo pipefail

if ! diff <(grep '^| `make_' samples/README.md) <(python3 samples/makers); then
  echo "samples/README.md has other makers: samples/makers prints its table"
  exit 1
fi
