#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Commit subjects: `room: imperative`, at most 72 columns, since the rule was made. Run from the root of the
# repository; 77: there is no history to look at.
set -uo pipefail

since=8da37ba1  # older subjects were written before the rule
if ! git cat-file -e "$since^{commit}" 2>/dev/null; then
  echo "skipped: no history back to $since"
  exit 77
fi
git log --no-merges --format='%h %s' "$since..HEAD" | awk '
  { subject = substr($0, index($0, " ") + 1) }
  length(subject) > 72 { print $1 ": the subject has " length(subject) " columns, at most 72"; bad = 1 }
  subject !~ /^[A-Za-z][A-Za-z, -]*: [^ ]/ { print $1 ": the subject is not `room: imperative`"; bad = 1 }
  END { exit bad }'
