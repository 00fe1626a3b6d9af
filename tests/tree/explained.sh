#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every finding code that some room makes has a text for `ttcheck explain`.
set -euo pipefail

status=0
codes=$(grep -rhoE 'Code::[a-z_]+' --include='*.cpp' --include='*.hpp' core formats cli \
  --exclude='codes.*' --exclude='explain*' | sort -u)
for code in $codes; do
  grep -qE "\{$code\b" reports/explain_texts.cpp || { echo "$code has no text"; status=1; }
done
exit $status
