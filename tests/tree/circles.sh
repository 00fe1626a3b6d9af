#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes go in no circle. A unit is X.hpp with X.cpp: a helper that includes the door it helps,
# for a type that stands there, cannot be read, tested or moved without it; give the type a header.
#
# usage: tests/tree/circles.sh [ROOT]    of the repository, for trying it out; else run from there
set -uo pipefail
cd "${1:-.}" || exit 1

find core formats reports cli -name '*.?pp' -exec \
  grep -EH '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' /dev/null {} + |
  LC_ALL=C sort | awk '
    function unit_of(path) { sub(/\.[a-z]+$/, "", path); return path }

    # The includes that lead from one unit to another on the shortest way, as "a -> b -> c".
    function way(from, to,    queue, came, head, tail, at, i, n, next_ones, text) {
      queue[tail = 1] = from; came[from] = from
      for (head = 1; head <= tail && !(to in came); head++) {
        n = split(out[queue[head]], next_ones, " ")
        for (i = 1; i <= n; i++) {
          if (next_ones[i] in came) continue
          came[next_ones[i]] = queue[head]; queue[++tail] = next_ones[i]
        }
      }
      if (!(to in came)) return ""
      for (at = text = to; at != from; text = at " -> " text) at = came[at]
      return text
    }

    {
      file = $0; sub(/:.*/, "", file)
      to = $0; sub(/^[^"]*"/, "", to); sub(/".*/, "", to)
      a = unit_of(file); b = unit_of(to); edge = a " " b
      if (a == b || edge in includer) next
      includer[edge] = file; order[++edges] = edge
      out[a] = out[a] " " b
    }
    END {
      if (edges == 0) { print "no include found: run from the root of the repository"; exit 1 }
      for (e = 1; e <= edges; e++) {
        edge = order[e]; split(edge, units, " ")
        back = way(units[2], units[1])
        if (back == "") continue
        bad = 1
        # A circle is told once, by the include that comes first by name.
        n = split(back, ring, " -> "); least = 1
        for (i = 2; i <= n; i++) if (ring[i] < ring[least]) least = i
        told = ""
        for (i = 0; i <= n; i++) told = told (i ? " -> " : "") ring[(least - 1 + i) % n + 1]
        if (told in said) continue
        said[told] = 1
        print includer[edge] " includes " units[2] ".hpp, a circle: " told
      }
      exit bad
    }'
