#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tonight's run against a golden one: samples/nightly/compare.sh GOLDEN TONIGHT [FOLDER [FLAGS...]]
# Leaves diff.json, diff.xml (JUnit), diff.md and diff.html in FOLDER (.) and hands the exit code on:
# 0 equal or noise; 1 a difference: the night is red; 2 something could not be compared: look at the job,
# not at the model; 3 both. Within GitHub Actions the summary of the job is written, too.
set -uo pipefail
golden=$1 tonight=$2 folder=${3:-.}
shift $(($# < 3 ? $# : 3))
mkdir -p "$folder"
ttcheck diff -q "$@" --out json="$folder/diff.json" --out junit="$folder/diff.xml" \
  --out markdown="$folder/diff.md" --out html="$folder/diff.html" -- "$golden" "$tonight"
code=$?
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -e "$folder/diff.md" ]; then
  cat "$folder/diff.md" >>"$GITHUB_STEP_SUMMARY"
fi
exit $code
