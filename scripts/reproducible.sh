#!/usr/bin/env bash
# Builds the JavaScript package twice, in two folders, and fails unless both tarballs are the
# same, byte for byte. The WebAssembly modules have to be there: npm run build.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
. scripts/steps.sh
. scripts/package.sh

for module in wasm wasm-lean; do
  [ -e "build/$module/keepsake.wasm" ] || fail "build/$module is not built: npm run build"
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# pack <name>: copies the sources to a folder of that name, builds there, and leaves <name>.tgz.
pack() {
  local copy="$folder/$1"
  mkdir -p "$copy/build" "$copy.pack"
  git ls-files -z --cached --others --exclude-standard |
    tar --null -T - -cf - | tar -xf - -C "$copy"
  ln -s "$root/node_modules" "$copy/node_modules"
  ln -s "$root/build/wasm" "$root/build/wasm-lean" "$copy/build/"
  (
    cd "$copy"
    package_kind=release package_parts=$all_parts package_fingerprint=$(package_sources) build_dist
    npm pack --silent --ignore-scripts --pack-destination "$copy.pack" >/dev/null
  )
  mv "$copy.pack/"*.tgz "$copy.tgz"
}

pack here
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
