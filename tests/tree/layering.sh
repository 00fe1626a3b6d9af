#!/usr/bin/env bash
# Includes point one way: the table is tests/tree/rooms. Run from the root of the repository.
set -uo pipefail

declare -A allowed
while IFS=: read -r room rest; do
  case $room in '#'* | '') continue ;; esac
  allowed[$room]=" $room $rest "
done <tests/tree/rooms

room_of() { # path -> the room it lies in, or nothing
  local path=$1
  while [[ $path == */* ]]; do
    path=${path%/*}
    if [ -n "${allowed[$path]:-}" ]; then echo "$path" && return; fi
  done
}

bad=0
say() { echo "$*" && bad=1; }

checked=0
while read -r file; do
  room=$(room_of "$file")
  if [ -z "$room" ]; then
    say "$file: lies in no room of tests/tree/rooms"
    continue
  fi
  checked=$((checked + 1))
  while IFS=: read -r line include; do
    to=$(room_of "$include")
    if [ -z "$to" ]; then
      say "$file:$line: \"$include\" is not written from the root of a room"
    elif [[ ${allowed[$room]} != *" $to "* ]]; then
      say "$file:$line: $room may not include $to (\"$include\")"
    elif [ ! -f "$include" ]; then
      say "$file:$line: no file $include"
    fi
  done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]+"([^"]+)".*/\1/;T;=;p' "$file" |
    paste -d: - -)
done < <(find core formats reports cli -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' | sort)

if [ "$checked" -eq 0 ]; then say "no source found: run from the root of the repository"; fi
exit $bad
