#!/usr/bin/env bash
# Runs every test there is, stage by stage, and stops at the first stage that fails.
#
#   test.sh             all stages
#   test.sh jest        one stage
#   test.sh jest -t x   one stage, with arguments for its program
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
. scripts/steps.sh
. scripts/package.sh

stages='setup lint native jest validation edge browser'

run_setup() { bash scripts/setup.sh --tests; }

run_lint() {
  npx --no-install biome ci "$@"
  node tests/layering.mjs
  local host hosts='Object.keys(require("./package.json").imports["#host"]).join(" ")'
  for host in $(node -p "$hosts"); do npx --no-install tsc --noEmit --customConditions "$host"; done
  # The style of C++ is checked where the formatter is installed; its versions differ in detail.
  if has clang-format-19; then
    git ls-files -z '*.cc' '*.h' | xargs -0 --no-run-if-empty clang-format-19 --dry-run --Werror
  fi
}

run_native() {
  # Clang compiles in two thirds of GCC's time. In the long run GCC reads the core, too.
  if has clang++-19; then export CC=clang-19 CXX=clang++-19; fi
  build_preset asan
  # A folder of its own: another checkout may run the same tests at the same time.
  local folder
  folder=$(mktemp -d)
  export TMPDIR=$folder
  if [ $# = 0 ]; then
    # It takes 80 s, and Clang finds nearly all of it.
    if [ -n "${KEEPSAKE_LONG:-}" ]; then check_with_gcc; fi
    run_core_tests
    set -- --label-exclude core
  fi
  ctest --preset asan --parallel "$(getconf _NPROCESSORS_ONLN)" "$@"
  rm -rf "$folder"
}

# docs/cpp.md promises both compilers.
check_with_gcc() {
  has g++ || return 0
  git ls-files -z 'core/src/*.cc' | xargs -0 -n 8 -P "$(getconf _NPROCESSORS_ONLN)" \
    g++ -std=c++23 -fsyntax-only -Wall -Wextra -Wno-missing-field-initializers -Werror \
    -I core/include -I core/src -isystem node_modules/better-sqlite3/deps/sqlite3 \
    -isystem build/asan/_deps/libsodium-src/src/libsodium/include/sodium
}

# A process for each core, not one for each test: under AddressSanitizer a start takes .16 s.
run_core_tests() {
  local shards shard pid status=0 pids=()
  shards=$(getconf _NPROCESSORS_ONLN)
  for ((shard = 0; shard < shards; shard++)); do
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard \
      build/asan/tests/core/core_tests --gtest_brief=1 &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  return $status
}

run_jest() {
  require_package
  put_files_in_memory
  jest "$@"
}

run_browser() {
  require_package
  jest --config tests/browser/jest.config.mjs "$@"
}

run_edge() {
  require_package
  jest --config tests/edge/jest.config.mjs "$@"
}

run_validation() {
  require_package
  put_files_in_memory
  npx --no-install vitest run "$@"
  # The SQLite that other runtimes bring.
  local vitest=node_modules/vitest/vitest.mjs
  KEEPSAKE_CONNECTION=node:sqlite .toolchain/node24/bin/node "$vitest" run "$@"
  KEEPSAKE_CONNECTION=bun:sqlite "$(bun)" "$vitest" run "$@"
}

bun() { find node_modules/@oven -path '*/bin/bun' | head -n 1; }

# Tests make thousands of files, and wait for the disk at each: of 168 s the store contract took 34
# without. What a disk loses is for tests that make it lose something. The long run has the disk.
put_files_in_memory() {
  local folder=/dev/shm kilobytes
  [ -z "${KEEPSAKE_LONG:-}" ] && [ -w "$folder" ] || return 0
  kilobytes=$(df --output=avail -k "$folder" | tail -n 1)
  [ "$kilobytes" -gt $((4 << 20)) ] || return 0
  TMPDIR=$(mktemp -d "$folder/keepsake-XXXXXX")
  # One test is another user.
  chmod 755 "$TMPDIR"
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
}

run_stage() {
  local stage=$1 started=$SECONDS
  shift
  say "--- $stage"
  # A child, because `set -e` does nothing in a function that is part of a condition.
  set +e
  (
    set -e
    "run_$stage" "$@"
  )
  local status=$?
  set -e
  if [ "$status" != 0 ]; then fail "--- $stage: FAILED after $((SECONDS - started)) s"; fi
  say "--- $stage: passed in $((SECONDS - started)) s"
}

if [ $# -gt 0 ]; then
  case " $stages " in
    *" $1 "*) run_stage "$@" ;;
    *) fail "there is no stage '$1'; the stages are: $stages" ;;
  esac
  exit
fi

for stage in $stages; do run_stage "$stage"; done
say "all stages passed in $SECONDS s"
