#!/usr/bin/env bash
# Builds the package twice from its sources, in two folders, and fails unless both tarballs are the
# same, byte for byte. Each copy compiles its own WebAssembly modules, without a cache: that takes
# as long as two whole builds. They share the tools: compilers, Emscripten, node_modules.
#
#   reproducible.sh                    two builds
#   reproducible.sh keepsake-1.2.3.tgz one build, and this one, which was made here
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
. scripts/steps.sh
. scripts/package.sh

has_npm_packages || fail 'nothing is set up yet: npm run setup'

given=${1:-}
[ -z "$given" ] || [ -f "$given" ] || fail "there is no $given: npm pack --ignore-scripts makes it"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# pack <name>: copies the sources to a folder of that name, builds there, and leaves <name>.tgz.
pack() {
  local copy="$folder/$1"
  mkdir -p "$copy" "$copy.pack"
  git ls-files -z --cached --others --exclude-standard |
    tar --null -T - -cf - | tar -xf - -C "$copy"
  ln -s "$root/node_modules" "$copy/node_modules"
  if [ -e "$toolchain" ]; then ln -s "$(realpath "$toolchain")" "$copy/.toolchain"; fi
  say "compiling in $copy"
  (
    cd "$copy"
    export CCACHE_DISABLE=1
    package_kind=release package_parts=$all_parts package_fingerprint=$(package_sources)
    build_module
    build_lean_module
    build_dist
    npm pack --silent --ignore-scripts --pack-destination "$copy.pack" >/dev/null
  )
  mv "$copy.pack/"*.tgz "$copy.tgz"
}

if [ -n "$given" ]; then cp "$given" "$folder/here.tgz"; else pack here; fi
pack elsewhere
if cmp -s "$folder/here.tgz" "$folder/elsewhere.tgz"; then
  # As `npm view keepsake dist.integrity` has it.
  # shellcheck disable=SC2016 # of JavaScript
  say "both tarballs are the same: $(node -p '
    `sha512-${crypto.createHash("sha512").update(fs.readFileSync(0)).digest("base64")}`
  ' <"$folder/here.tgz")"
else
  for name in here elsewhere; do
    mkdir "$folder/$name.files"
    tar -xzf "$folder/$name.tgz" -C "$folder/$name.files"
  done
  diff -rq "$folder/here.files" "$folder/elsewhere.files" || true
  fail 'the tarballs differ'
fi
