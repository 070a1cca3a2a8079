# shellcheck shell=bash
# Shared by the scripts of this folder: where things are, and how they speak.
# Source it under `set -euo pipefail`.

# What is built is packed with its modes: those of a private umask are in no release.
umask 022

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # for the others
toolchain="$root/.toolchain"

say() { printf '[keepsake] %s\n' "$*"; }

fail() {
  printf '[keepsake] %s\n' "$*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null; }

# A short fingerprint of the named files' content.
fingerprint() { cat "$@" | cksum | cut -d ' ' -f 1; }

# version_at_least <wanted> <found>
version_at_least() {
  [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

# Which packages of npm are wanted, in the name of a file that says that they are there.
npm_stamp() { echo "node_modules/.keepsake-$(fingerprint package-lock.json)"; }

has_npm_packages() { [ -e "$(npm_stamp)" ]; }

# By itself Jest leaves a core to a process that only waits: of two cores it would use one.
jest() {
  local cores
  cores=$(getconf _NPROCESSORS_ONLN)
  NODE_OPTIONS="${NODE_OPTIONS:-} --experimental-vm-modules --no-warnings" \
    node_modules/.bin/jest --maxWorkers=$((cores < 4 ? cores : cores / 2)) "$@"
}
