#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No source has a type of its own by the name of one of core/model's: where sources are compiled together
# (unity), a header that comes behind it would take the one for the other, and nothing says so.
#
# usage: tests/tree/shadows.sh [ROOT]    of the repository, for trying it out; else run from there
set -uo pipefail
cd "${1:-.}" || exit 1

kinds='struct|class|enum class|using'
names=$(grep -hoE "^($kinds) [A-Z][A-Za-z]+" core/model/*.hpp | awk '{ print $NF }' | sort -u | paste -sd '|')
found=$(find core formats reports cli -name '*.cpp' ! -path 'core/model/*' -exec \
  grep -nHE "^($kinds) ($names)( |;|\$)" {} +)
[ -z "$found" ] && exit 0
echo "$found" | sed 's/$/   (a name of core\/model)/'
exit 1
