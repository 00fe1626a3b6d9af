#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/catalogue.md says of each id that a test cites what it stands for. Run from the root of the repository.
set -uo pipefail

if ! diff -u tests/catalogue.md <(python3 tests/catalogue); then
  echo "the tests cite other ids or titles: tests/catalogue > tests/catalogue.md"
  exit 1
fi
