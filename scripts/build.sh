#!/usr/bin/env bash
# Builds the WebAssembly modules (build/wasm, build/wasm-lean) and the package (dist), where out
# of date.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

build_wasm() {
  [ -e build/wasm/build.ninja ] || cmake --preset wasm
  cmake --build --preset wasm
}

build_lean_wasm() {
  [ -e build/wasm-lean/build.ninja ] || cmake --preset wasm-lean
  cmake --build --preset wasm-lean
}

build_package() { node scripts/build-js.mjs; }

# Names, sizes and times, so that a deleted source counts too.
package_inputs() {
  find js/src scripts/build-js.mjs package.json tsconfig*.json build/wasm/keepsake.* \
    build/wasm-lean/keepsake.* -type f \
    -exec ls -ln {} + | cksum | cut -d ' ' -f 1
}

step 'Building the WebAssembly module' build_wasm
step 'Building the WebAssembly module without SQLite' build_lean_wasm

# Not in dist, which is packed as it is.
stamp="build/package-$(package_inputs)"
if [ ! -e "$stamp" ] || [ ! -e dist/index.js ]; then
  rm -f build/package-*
  step 'Building the package' build_package "$stamp"
fi
