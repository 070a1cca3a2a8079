#!/usr/bin/env bash
# Builds the WebAssembly modules (build/wasm, build/wasm-lean) and the package (dist), where out
# of date.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
. scripts/steps.sh
. scripts/package.sh

plan_package release "$all_parts"
run_steps
