#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each unit of core and reports has a test of its own: tests/unit/ROOM/UNIT_test.cpp, or one that includes
# its header. What needs none stands in tests/tree/untested with the reason. Run from the root.
set -uo pipefail

bad=0
say() { echo "$*" && bad=1; }

declare -A reason tested
while IFS=: read -r unit why; do
  case $unit in '#'* | '') continue ;; esac
  reason[$unit]=$why
  if [ -z "${why// /}" ]; then say "tests/tree/untested: $unit has no reason"; fi
done <tests/tree/untested

while read -r header; do tested[${header%.hpp}]=1; done < <(
  grep -rhoE '^#include "[^"]+"' tests/unit | cut -d '"' -f 2 | sort -u)
while read -r test; do
  test=${test#tests/unit/}
  tested[${test%_test.cpp}]=1
done < <(find tests/unit -name '*_test.cpp')

units=0
while read -r unit; do
  units=$((units + 1))
  if [ -n "${tested[$unit]:-}" ] && [ -n "${reason[$unit]+x}" ]; then
    say "tests/tree/untested: $unit has a test, strike it"
  elif [ -z "${tested[$unit]:-}" ] && [ -z "${reason[$unit]+x}" ]; then
    say "$unit: no test of its own, and no reason in tests/tree/untested"
  fi
  unset "reason[$unit]"
done < <(find core reports -name '*.cpp' -o -name '*.hpp' | sed 's/\.[ch]pp$//' | sort -u)

for unit in "${!reason[@]}"; do say "tests/tree/untested: no unit $unit"; done
if [ "$units" -eq 0 ]; then say "no unit found: run from the root of the repository"; fi
exit $bad
