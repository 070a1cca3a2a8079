# shellcheck shell=bash
# Makes the package in dist, and tells whether dist is what the sources make now. Sourced after
# lib.sh and steps.sh.
#
# build/package says how dist was made: its kind, a fingerprint of the sources, its parts.
# Kinds:  release  what is published
#         dev      made quickly, for one test
# Parts:  node, browser, edge and declarations (scripts/build-js.mjs)
#
# Likewise build/<preset>/built has a fingerprint of the sources of a module, and what was built of
# them: what only bundles it starts no CMake.

all_parts='node browser edge declarations'

module_sources='CMakeLists.txt CMakePresets.json cmake core wasm package.json scripts/emscripten.sh'

package_sources() {
  # shellcheck disable=SC2086 # a list of names
  fingerprint_below $module_sources js/src tsconfig*.json scripts/build-js.mjs scripts/sbom.mjs
}

fingerprint_below() {
  find "$@" -type f ! -name '*.md' -print0 |
    LC_ALL=C sort -z | xargs -0 cksum | cksum | cut -d ' ' -f 1
}

# has_module <preset> <target>
has_module() {
  local sources target
  [ -e "build/$1/keepsake.wasm" ] && [ -e "build/$1/built" ] || return 1
  read -r sources target <"build/$1/built"
  [ "$target" = "$2" ] || [ "$target" = all ] || return 1
  # shellcheck disable=SC2086 # a list of names
  [ "$sources" = "$(fingerprint_below $module_sources)" ]
}

# has_package <kind> <parts>
has_package() {
  local kind sources parts part
  [ -e dist/keepsake.wasm ] && [ -e build/package ] || return 1
  read -r kind sources parts <build/package
  [ "$kind" = "$1" ] || return 1
  for part in $2; do
    [[ " $parts " == *" $part "* ]] || return 1
  done
  [ "$sources" = "$(package_sources)" ]
}

require_package() {
  has_package release "$all_parts" ||
    fail 'dist is not what the sources make now, or was made for one test:' \
      'build it (npm run build), or build and run one test (npm run dev:test -- <file>)'
}

# plan_package <kind> <parts>: adds the steps that make it, unless it is there.
plan_package() {
  if has_package "$@"; then return; fi
  package_kind=$1
  package_parts=$2
  # Before the build reads them: what is edited meanwhile makes it stale.
  package_fingerprint=$(package_sources)
  local tools='install_debian_packages fetch_emscripten install_npm_packages'
  # shellcheck disable=SC2086 # a list of names
  has_module "$(preset_of wasm)" "$(module_target)" ||
    add_step build_module 'Building the WebAssembly module' $tools
  if [[ " $package_parts " == *' edge '* ]] && ! has_module "$(preset_of wasm-lean)" all; then
    # shellcheck disable=SC2086 # a list of names
    add_step build_lean_module 'Building the WebAssembly module without SQLite' $tools
  fi
  add_step build_dist 'Bundling the package' build_module build_lean_module
}

build_module() { build_target "$(preset_of wasm)" "$(module_target)"; }

build_lean_module() { build_target "$(preset_of wasm-lean)" all; }

# build_target <preset> <target>
build_target() {
  local preset=$1 target=$2 sources cache=build/$1/CMakeCache.txt
  # Before the build reads them.
  # shellcheck disable=SC2086 # a list of names
  sources=$(fingerprint_below $module_sources)
  # Copied from another checkout, it would build that one.
  if [ -e "$cache" ] && [ ! "$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")" -ef . ]; then
    rm -rf "build/$preset"
  fi
  rm -f "build/$preset/built"
  build_preset "$preset" --target "$target"
  echo "$sources $target" >"build/$preset/built"
}

# Pages need one of its two modules.
module_target() { if [[ " $package_parts " == *' node '* ]]; then echo all; else echo keepsake; fi; }

# What is published does as well for a test, if it is there.
preset_of() {
  if [ "$package_kind" = dev ] && ! has_module "$1" all; then echo "$1-dev"; else echo "$1"; fi
}

# build_preset <preset> [options for the build]
build_preset() {
  local preset=$1
  shift
  # Emscripten starts it for each source: not a shim that first looks for the right one.
  EMSDK_PYTHON=$(python3 -c 'import sys; print(sys.executable)')
  export EMSDK_PYTHON
  [ "build/$preset/build.ninja" -nt CMakePresets.json ] || cmake --preset "$preset"
  cmake --build --preset "$preset" --parallel "$(getconf _NPROCESSORS_ONLN)" "$@"
}

build_dist() {
  rm -f build/package
  # shellcheck disable=SC2086 # a list of names
  node scripts/build-js.mjs "build/$(preset_of wasm)" "build/$(preset_of wasm-lean)" $package_parts
  if [ "$package_kind" = release ]; then node scripts/sbom.mjs build/wasm >dist/sbom.cdx.json; fi
  echo "$package_kind $package_fingerprint $package_parts" >build/package
}

# ---- keepsake-english, whose table takes a minute or two: once, and when what makes it changes

english_sources() {
  fingerprint_below js/src/embed scripts/english.mjs bench/recall-model.mjs packages/english/make.js
}

has_english() {
  [ -e packages/english/dist/table.js ] &&
    [ "$(cat build/english/sources 2>/dev/null)" = "$(english_sources)" ]
}

plan_english() {
  if has_english; then return; fi
  add_step build_english 'Making the table of keepsake-english (150 MB are fetched)' \
    install_npm_packages build_dist
}

build_english() {
  rm -rf packages/english/dist
  node --max-old-space-size=4096 scripts/english.mjs
  english_sources >build/english/sources
}
