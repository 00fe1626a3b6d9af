#!/usr/bin/env bash
# The man pages are well-formed mdoc. Run from the root of the repository.
set -uo pipefail

said=$(mandoc -T lint -W warning man/*.[157])
printf '%s' "$said"
[ -z "$said" ]
