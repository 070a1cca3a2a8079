# shellcheck shell=bash
# Emscripten from Debian, unpacked into .toolchain without touching the system.
# Sourced by setup.sh, which runs `set_up_emscripten`.
#
# Debian 12's own Emscripten is too old for Node 20, so the packages come from the suite below;
# they are signed by Debian, and apt checks that. Only their programs made of JavaScript, Python
# and data run on any Debian; binaryen is native code and is started through the libc which it
# was built for.

emscripten_suite=trixie
emscripten_packages='emscripten binaryen libc6 libstdc++6 libgcc-s1 node-acorn'
# shellcheck disable=SC2154 # lib.sh sets it
emscripten_root="$toolchain/debian"

# The address of the Debian mirror that this machine uses already.
debian_mirror() {
  # shellcheck disable=SC1091
  . /etc/os-release
  # shellcheck disable=SC2016 # apt fills these in, not the shell
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite="$VERSION_CODENAME" '$2 == suite && $3 == "main" { print $1; exit }'
}

private_apt_get() {
  APT_CONFIG="$toolchain/apt/apt.conf" apt-get -q "$@"
}

# Its lists and caches are ours, so that the system's package choice never changes.
write_private_apt_configuration() {
  local apt="$toolchain/apt" mirror
  mirror=$(debian_mirror)
  [ -n "$mirror" ] || fail 'no Debian mirror is configured in /etc/apt'
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/packages"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $emscripten_suite main" \
    >"$apt/sources.list"
  cat >"$apt/apt.conf" <<CONF
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::Lists "$apt/lists";
Dir::Cache "$apt/cache";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
CONF
}

download_emscripten() {
  write_private_apt_configuration
  private_apt_get update
  # shellcheck disable=SC2086 # a list of names
  (cd "$toolchain/apt/packages" && private_apt_get download $emscripten_packages)
  rm -rf "$emscripten_root"
  mkdir -p "$emscripten_root"
  local package
  for package in "$toolchain"/apt/packages/*.deb; do
    dpkg -x "$package" "$emscripten_root"
  done
  rm -rf "$toolchain/apt"
}

# Starts each binaryen program through the C library which it was built for.
wrap_binaryen() {
  local libraries loader program bin="$toolchain/binaryen/bin"
  loader=$(find "$emscripten_root/usr/lib" -name 'ld-linux-*.so.*' -type f | head -n 1)
  libraries=$(dirname "$loader")
  mkdir -p "$bin"
  for program in "$emscripten_root"/usr/bin/wasm*; do
    printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' \
      "$loader" "$libraries" "$program" >"$bin/$(basename "$program")"
    chmod +x "$bin/$(basename "$program")"
  done
}

configure_emscripten() {
  local emscripten="$emscripten_root/usr/share/emscripten"
  wrap_binaryen
  # Debian links acorn from the system's Node modules; without it the linker's optimiser fails.
  mkdir -p "$emscripten/node_modules"
  rm -rf "$emscripten/node_modules/acorn"
  cp -RL "$emscripten_root/usr/share/nodejs/acorn" "$emscripten/node_modules/acorn"
  # Ours says "type": "module", which Emscripten's own scripts are not.
  echo '{ "type": "commonjs" }' >"$toolchain/package.json"
  # Emscripten reads the configuration beside its programs: no environment variable is needed.
  cat >"$emscripten/.emscripten" <<CONF
LLVM_ROOT = '/usr/bin'
BINARYEN_ROOT = '$toolchain/binaryen'
NODE_JS = '$(command -v node)'
FROZEN_CACHE = False
CACHE = '$emscripten_root/usr/share/emscripten/cache'
LLVM_ADD_VERSION = '19'
CLANG_ADD_VERSION = '19'
CONF
}

set_up_emscripten() {
  download_emscripten
  configure_emscripten
}
