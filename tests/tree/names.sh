#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A public name is one thing: no two headers name a type or a constant alike, whatever the room, and
# no source has a constant of a header's name. What a reader searches for, there is one of.
# usage: tests/tree/names.sh [ROOT]    of the repository, for trying it out; else run from there
set -uo pipefail
cd "${1:-.}" || exit 1

find core formats reports cli -name '*.?pp' -print | LC_ALL=C sort | xargs awk '
  # What a line at the outermost level names, or nothing: "type NAME" or "constant NAME".
  function named(line) {
    sub(/^template <.*> /, "", line); sub(/^inline /, "", line); sub(/^static /, "", line)
    if (line ~ /^(class|struct|union|enum class|enum) [A-Za-z]/) {
      if (line ~ /^[^{]*;/) return ""  # declared only
      sub(/^(class|struct|union|enum class|enum) /, "", line); sub(/^alignas\([0-9]+\) /, "", line)
      if (line ~ /^[A-Za-z0-9_]+::/) return ""  # of another class
      sub(/[^A-Za-z0-9_].*/, "", line)
      return "type " line
    }
    if (line ~ /^using [A-Za-z0-9_]+ =/) {
      sub(/^using /, "", line); sub(/ .*/, "", line)
      return "type " line
    }
    if (line ~ /^const(expr)? [^(=]* \**k[A-Z][A-Za-z0-9]*(\[[^]]*\])*( =|\{|;| *$)/) {
      match(line, /k[A-Z][A-Za-z0-9]*(\[[^]]*\])*( =|\{|;| *$)/)
      line = substr(line, RSTART); sub(/[^A-Za-z0-9].*/, "", line)
      return "constant " line
    }
    return ""
  }

  { what = named($0) }
  what == "" { next }
  FILENAME ~ /\.hpp$/ {
    found++
    if (what in public) {
      print FILENAME ":" FNR ": " what " is also in " public[what] ": give one of them another name"
      bad = 1
    } else {
      public[what] = FILENAME ":" FNR
    }
  }
  FILENAME ~ /\.cpp$/ && what ~ /^constant/ { own[what] = own[what] " " FILENAME ":" FNR }
  END {
    if (found == 0) { print "no public name found: run from the root of the repository"; exit 1 }
    for (what in own) {
      if (!(what in public)) continue
      print substr(own[what], 2) ": " what " is also in " public[what] ": give it another name"
      bad = 1
    }
    exit bad
  }'
