#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A function is at most 60 lines: a longer one does several things, of which each has a name. Counted are
# the lines of its body, with those of its braces.
#
# By clang-format's layout: what is declared in a namespace or class starts at some indentation; the `{`
# of a body ends a line, and the first `}` at that indentation closes it. Lambdas that are the value of
# a constant count as functions, tables of values do not.
#
# usage: tests/tree/functions.sh [ROOT]    of the repository, for trying it out; else run from there
set -uo pipefail
cd "${1:-.}" || exit 1

find cli core formats reports -name '*.?pp' -print | LC_ALL=C sort | xargs awk -v most=60 '
  # What a declaration declares: what stands in front of the arguments, or of the value.
  function name_of(text) {
    if (match(text, /operator[^A-Za-z0-9_]+\(/)) return substr(text, RSTART, RLENGTH - 1)
    while (gsub(/<[^<>]*>/, "", text)) continue
    if (text ~ /= \[/) sub(/ *= \[.*/, "", text)
    else sub(/\(.*/, "", text)
    sub(/.*[ *&]/, "", text)
    return text
  }
  function is_function(text) { return text ~ /[^=] \{$/ && text ~ /\(|\] \{$/ }

  function start_of_file() {
    if (inside) { print path ": the end of what starts in line " head " is not found"; bad = 1 }
    path = FILENAME; inside = 0; text = ""; macro = 0
  }

  FNR == 1 { start_of_file() }
  macro || /^ *#/ { macro = /\\$/; next }
  inside {
    if (substr($0, 1, indent + 1) != margin "}") next
    inside = 0
    if (!counted) next
    seen++
    if (FNR - opened + 1 > most) {
      print path ":" head ": " name ": " FNR - opened + 1 " lines, at most " most
      bad = 1
    }
    next
  }
  text == "" && /^ *(\/\/|\}|$|(public|private|protected):$)/ { next }
  {
    line = $0
    sub(/ +\/\/.*/, "", line)
    if (text == "") {
      head = FNR
      match(line, /^ */); indent = RLENGTH; margin = substr(line, 1, indent)
    }
    sub(/^ +/, "", line)
    text = text (text == "" ? "" : " ") line
    if (line !~ /[;{}]$/) next
    whole = text; text = ""
    if (line !~ /\{$/) next
    sub(/^template <.*> /, "", whole)
    if (whole ~ /^(inline )?(namespace|extern "C")( |$)/ || whole ~ /^(class|struct|union) /) next
    inside = 1; opened = FNR
    counted = whole !~ /^enum / && is_function(whole)
    if (counted) name = name_of(whole)
  }
  END {
    start_of_file()
    if (seen == 0) { print "no function found: run from the root of the repository"; exit 1 }
    exit bad
  }'
