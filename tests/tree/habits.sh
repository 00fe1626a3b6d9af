#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rules of the house that a search can check. Run from the root of the repository; 77: it is no
# checkout, so that nobody knows which files are the house's.
set -uo pipefail

if ! git ls-files --error-unmatch tests/tree/habits.sh >/dev/null 2>&1; then
  echo "skipped: not in a checkout of git"
  exit 77
fi

bad=0
forbid() { # why, pattern, folders..., with :!PATH for exceptions
  local why=$1 pattern=$2
  shift 2
  local found
  found=$(git grep -nE "$pattern" -- "$@")
  if [ $? -gt 1 ]; then
    echo "$why: the search itself fails"
    bad=1
  fi
  if [ -n "$found" ]; then
    printf '%s\n%s\n' "$why:" "$found"
    bad=1
  fi
}

forbid "OpenMP outside core/base/parallel" '#pragma omp|<omp\.h>|\bomp_[a-z]+\(' \
  core formats reports cli ':!core/base/parallel.*'
forbid "files are opened in formats and cli only" \
  '<(fstream|filesystem|fcntl\.h|sys/stat\.h|dirent\.h)>|\b(fopen|freopen|openat2?|opendir)\(' \
  core reports
forbid "only cli prints" 'std::(cout|cerr|clog)|<iostream>|\b(printf|puts|fputs|fprintf|fmt::print)\(' \
  core formats reports ':!core/base/require.cpp'
forbid "mistakes of ours go to require" '<cassert>|\bassert\(' core formats reports cli
forbid "nothing is run" '\b(system|popen|execv[pe]*|execl[pe]*|posix_spawnp?)\(' \
  core formats reports ':!core/base/library_path.cpp' # the program itself, before it reads anything
forbid "no reduction of floats by the schedule" 'reduction *\( *[-+*] *:' core formats reports cli
forbid "no fast-math, no machine of the builder" '^[^#]*-(ffast-math|march=native)' CMakeLists.txt cmake
forbid "unfinished" '\b(TODO|FIXME|XXX|HACK)\b' core formats reports cli tests script \
  ':!tests/tree/habits.sh'
forbid "room without an idea" '^' \
  ':(glob)**/*util*.?pp' ':(glob)**/*helper*.?pp' ':(glob)**/*manager*.?pp' ':(glob)**/misc*.?pp'

forbid "bytes know of no framework" '\b(torch|megatron|deepspeed|lightning|transformers|tensorflow|jax)\b' \
  formats/bytes
forbid "a loose source: formats lie in families" '^' \
  ':(glob)formats/*.cpp' ':!formats/open.cpp' ':!formats/table.cpp'

while read -r file; do  # formats/torch/torch_file.hpp
  echo "$file: repeats the name of its folder"
  bad=1
done < <(git ls-files 'formats/*.?pp' | grep -E '/([a-z0-9_]+)/\1[_.][^/]*$')

while read -r lines file; do
  case $file in
    core/*.?pp | cli/*.?pp | reports/*.?pp | formats/*.?pp) most=400 ;;
    *) most=500 ;;
  esac
  if [ "$file" != total ] && [ "$lines" -gt "$most" ]; then
    echo "$file: $lines lines, at most $most: split it by idea"
    bad=1
  fi
done < <(git ls-files '*.cpp' '*.hpp' '*.cu' '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' script .ci |
  xargs -r wc -l)

# `cli` turns words into an exit code: what is more belongs in a room (ARCHITECTURE.md).
words=$(git ls-files 'cli/*.?pp' | xargs cat | wc -l)
if [ "$words" -gt 3500 ]; then
  echo "cli: $words lines, at most 3500"
  bad=1
fi

# A path in a comment, with or without its ending; `megatron/core/...` is another's.
while read -r path; do
  if [ ! -e "$path" ] && ! compgen -G "$path.*" >/dev/null; then
    echo "a comment cites $path, which is not there"
    bad=1
  fi
done < <(git grep -hoE '//.*' -- '*.hpp' '*.cpp' |
  grep -oP '(?<![\w/.-])(cli|core|formats|reports|tests|man|samples|script|cmake)/[\w/.-]*\w' |
  grep -v NAME | sort -u)

while read -r path; do
  if [ "$(head -c 2 "$path")" != '#!' ]; then
    echo "$path: may be executed, and is no script"
    bad=1
  fi
done < <(git ls-files -s | sed -n 's/^100755 [^\t]*\t//p')

while read -r header; do
  if ! head -n 2 "$header" | grep -qx '#pragma once'; then
    echo "$header: #pragma once is not its second line"
    bad=1
  fi
done < <(git ls-files '*.hpp')

# Comments of seven lines or more at the margin.
while read -r essay; do
  echo "$essay: an essay opens its file"
  bad=1
done < <(git ls-files '*.cpp' ':!tests' | xargs awk '
  FNR == 1 { n = 0 }
  /^\/\// { if (n++ == 0) begin = FNR; if (n == 7 && begin > 2) print FILENAME ":" begin; next }
  { n = 0 }')

# What is long is hard, or should be shorter.
while read -r lines source; do
  if [ "$source" != total ] && [ "$lines" -gt 150 ] && ! sed -n 2,3p "$source" | grep -q '^//'; then
    echo "$source: $lines lines without an essay at the top"
    bad=1
  fi
done < <(git ls-files 'formats/*.?pp' | xargs wc -l)

while read -r source; do
  echo "$source: neither of its first two lines is SPDX-License-Identifier: Apache-2.0"
  bad=1
done < <(git ls-files '*.cpp' '*.hpp' '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' script .ci |
  xargs grep -m 1 -nE '^(//|#) SPDX-License-Identifier: Apache-2\.0$' /dev/null |
  awk -F: '$2 <= 2 { print $1 }' | sort |
  comm -13 - <(git ls-files '*.cpp' '*.hpp' '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' script .ci | sort))
exit $bad
