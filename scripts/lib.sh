# shellcheck shell=bash
# Shared by the scripts of this folder: where things are, and how progress is shown.
# Source it under `set -euo pipefail`.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
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

# step <title> <function> [stamp]: runs the function with its output in a log, shows how long it
# took, and the end of the log if it failed. A stamp is a file that says: done already.
step() {
  local title=$1 work=$2 stamp=${3:-}
  if [ -n "$stamp" ] && [ -e "$stamp" ]; then return 0; fi
  local log="$toolchain/logs/$work.log" started=$SECONDS status=0
  mkdir -p "$toolchain/logs"
  printf '[keepsake] %s ... ' "$title"
  # `set -e` does nothing inside a function that is part of a condition; a child has its own.
  set +e
  (
    set -e
    "$work"
  ) >"$log" 2>&1
  status=$?
  set -e
  if [ "$status" != 0 ]; then
    printf 'failed\n'
    tail -n 30 "$log" >&2
    fail "$title: failed; all of its output is in ${log#"$root"/}"
  fi
  printf '%d s\n' $((SECONDS - started))
  if [ -n "$stamp" ]; then touch "$stamp"; fi
}
