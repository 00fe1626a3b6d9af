#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One number: packages repeat that of CMakeLists.txt, and a release sets it in all of them. Run from the root of
# the repository.
set -uo pipefail

number=$(sed -nE 's/^project\(ttcheck VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
eval "$(grep '^repeated=' script/release)"
bad=0
for file in "${repeated[@]}"; do
  if ! grep -qE "^ *(__version__ = |version: |version\\()\"$number\"" "$file"; then
    echo "$file: its version is not $number, as CMakeLists.txt has it"
    bad=1
  fi
done
exit $bad
