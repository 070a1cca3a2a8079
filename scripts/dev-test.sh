#!/usr/bin/env bash
# The inner loop: builds what one test file needs, quickly, and runs it.
#
#   npm run dev:test -- tests/js/wire.test.mjs
#   npm run dev:test -- tests/js/wire.test.mjs -t 'part of a name'
#
# What it builds is not optimised and never published; build.sh makes the package anew.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
. scripts/steps.sh
. scripts/package.sh

file=${1:-}
[ -f "$file" ] || fail 'usage: npm run dev:test -- <test file> [-t name]'

# needs <regular expression>: whether the test has it, or a helper of tests that it imports.
needs() {
  local seen='' queue=$file one folder name
  while [ -n "$queue" ]; do
    one=${queue%%$'\n'*} queue=${queue#"$one"} queue=${queue#$'\n'}
    if [ ! -f "$one" ] || [[ $seen == *"|$one|"* ]]; then continue; fi
    seen+="|$one|"
    if grep -qE "$1" "$one"; then return 0; fi
    folder=$(dirname "$one")
    while read -r name; do
      queue+=$'\n'$(realpath -m --relative-to=. "$folder/$name")
    done < <(grep -oE '"\.[^"]*\.mjs"' "$one" | tr -d '"')
  done
  return 1
}

kind=dev
case $file in
  tests/js/*) config=jest.config.mjs parts='node' ;;
  tests/browser/*) config=tests/browser/jest.config.mjs parts='node browser' ;;
  tests/edge/*) config=tests/edge/jest.config.mjs parts='node browser edge' ;;
  *) fail "$file is in none of tests/js, tests/browser and tests/edge" ;;
esac
# Over a connection of the application's runs the lean module.
if needs 'keepsake/sqlite|dist/sqlite'; then parts='node browser edge'; fi
# A test of the published files themselves.
if grep -qE '\bdist/|packProject' "$file"; then kind=release parts=$all_parts; fi

has_npm_packages || fail 'nothing is set up yet: npm run setup -- --tests'
# What is published does as well, if it is there.
has_package release "$parts" || plan_package "$kind" "$parts"
if needs 'packages/english/dist|keepsake-english'; then plan_english; fi
run_steps
jest --config "$config" "$@"
