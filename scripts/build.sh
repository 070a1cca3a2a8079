#!/usr/bin/env bash
# Builds the WebAssembly modules (build/wasm, build/wasm-lean), the package (dist) and
# keepsake-english (packages/english/dist), where out of date.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
. scripts/steps.sh
. scripts/package.sh

plan_package release "$all_parts"
plan_english
run_steps
