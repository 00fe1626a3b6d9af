#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes point one way and go through doors: the table is tests/tree/rooms.
# usage: tests/tree/layering.sh [ROOT]    of the repository, for trying it out; else run from there
set -uo pipefail
cd "${1:-.}" || exit 1

find core formats reports cli \( -name '*.?pp' -o -name '*.cu' \) -print | LC_ALL=C sort |
  xargs awk -v table=tests/tree/rooms '
    function say(words) { print words; bad = 1 }
    function exists(path,    line, got) {
      if (!(path in is_there)) { got = getline line <path; close(path); is_there[path] = got >= 0 }
      return is_there[path]
    }
    function room_of(path) {  # the room it lies in, or nothing
      while (sub(/\/[^\/]*$/, "", path)) if (path in may) return path
      return ""
    }

    BEGIN {
      while ((getline line <table) > 0) {
        if (line ~ /^(#|$)/) continue
        split(line, column, /: */)
        may[column[1]] = " " column[1] " " column[2] " "
        doors[column[1]] = column[3]
        n = split(column[3], names, " ")
        for (i = 1; i <= n; i++) {
          if (names[i] == "*") { open[column[1]] = 1; continue }
          door[column[1] "/" names[i] ".hpp"] = ++listed
        }
      }
      for (header in door) if (!exists(header)) say(table ": no file for the door " header)
    }

    FNR == 1 {
      seen++
      room = room_of(FILENAME)
      if (room == "") say(FILENAME ": lies in no room of " table)
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ && room != "" {
      header = $0; sub(/^[^"]*"/, "", header); sub(/".*/, "", header)
      at = FILENAME ":" FNR ": "
      to = room_of(header)
      if (to == "") say(at "\"" header "\" is not written from the root of a room")
      else if (!exists(header)) say(at "no file " header)
      else if (index(may[room], " " to " ") == 0)
        say(at room " may not include " to " (\"" header "\")")
      else if (to != room) {
        used[header] = 1
        if (!(to in open) && !(header in door))
          say(at header " is no door of " to "; these are: " doors[to])
      }
    }
    END {
      if (seen == 0) say("no source found: run from the root of the repository")
      for (header in door)
        if (exists(header) && !(header in used))
          say(table ": " header " is included by no other room: it is no door")
      exit bad
    }'
