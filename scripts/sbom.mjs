// Prints the bill of materials of the package, as CycloneDX: itself, and the libraries that are
// compiled into its module. It has no time and no number of its own, so that two builds are alike.
//
//   sbom.mjs <folder of the module>

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as CycloneDX from "@cyclonedx/cyclonedx-library";

const root = fileURLToPath(new URL("..", import.meta.url));
const [modules] = process.argv.slice(2);
const read = (...path) => readFileSync(join(...path), "utf8");

// What CMake found when it made the module.
const sqlite =
  /^KEEPSAKE_SQLITE_DIR:PATH=(.+)(?<!NOTFOUND)$/m.exec(
    read(root, modules, "CMakeCache.txt"),
  )?.[1] ?? join(root, modules, "_deps/sqlite_amalgamation-src");
const sodium =
  /^KEEPSAKE_SODIUM_DIR:PATH=(.+)(?<!NOTFOUND)$/m.exec(
    read(root, modules, "CMakeCache.txt"),
  )?.[1] ?? join(root, modules, "_deps/libsodium-src");
const settings = join(root, modules, "CMakeFiles");
const compiler = readdirSync(settings, { recursive: true }).find((file) =>
  file.endsWith("CMakeCCompiler.cmake"),
);
const [, emcc] = /CMAKE_C_COMPILER "(.+)"/.exec(read(settings, compiler));
const emscripten = dirname(realpathSync(emcc));

const versionIn = (pattern, ...path) => {
  const found = pattern.exec(read(...path))?.[1];
  if (found === undefined) throw new Error(`${join(...path)} says no version: ${pattern}`);
  return found;
};
const sha256 = (...path) =>
  createHash("sha256")
    .update(readFileSync(join(...path)))
    .digest("hex");

// Of the archive that was unpacked, as CMake checked it. What was on the machine already has none.
function hashOfSodium() {
  if (!sodium.startsWith(join(root, modules))) return undefined;
  const pinned = /\$\{sodium_urls\}"\s+SHA256=([\da-f]{64})/.exec(
    read(root, "cmake/dependencies.cmake"),
  );
  if (pinned === null) throw new Error("cmake/dependencies.cmake pins no archive of libsodium");
  return pinned[1];
}

const LLVM = "Apache-2.0 WITH LLVM-exception";

function librariesOfLlvm() {
  const folders = { "libc++": "libcxx", "libc++abi": "libcxxabi", "compiler-rt": "compiler-rt" };
  return Object.entries({ ...folders, libunwind: "libunwind" }).map(([name, folder]) => ({
    name,
    version: versionIn(/\b(\d+\.\d+\.\d+)\b/, emscripten, "system/lib", folder, "readme.txt"),
    license: LLVM,
    purl: "pkg:github/llvm/llvm-project",
  }));
}

// THIRD_PARTY_NOTICES.md says the same to people.
function compiledIn() {
  const sqliteVersion = versionIn(/SQLITE_VERSION +"(.+)"/, sqlite, "sqlite3.h");
  return [
    {
      name: "SQLite",
      version: sqliteVersion,
      license: "blessing",
      purl: "pkg:generic/sqlite",
      // Of the one file that is compiled.
      hash: sha256(sqlite, "sqlite3.c"),
      cpe: `cpe:2.3:a:sqlite:sqlite:${sqliteVersion}:*:*:*:*:*:*:*`,
    },
    {
      name: "libsodium",
      version: versionIn(/AC_INIT\(\[libsodium\],\s*\[([\d.]+)\]/, sodium, "configure.ac"),
      license: "ISC",
      hash: hashOfSodium(),
      purl: "pkg:generic/libsodium",
    },
    {
      name: "Emscripten",
      version: versionIn(/([\d.]+)/, emscripten, "emscripten-version.txt"),
      license: "MIT",
      purl: "pkg:github/emscripten-core/emscripten",
    },
    {
      name: "musl",
      version: versionIn(/([\d.]+)/, emscripten, "system/lib/libc/musl/VERSION"),
      license: "MIT",
      purl: "pkg:generic/musl",
    },
    {
      name: "dlmalloc",
      version: versionIn(/Version ([\d.]+)/, emscripten, "system/lib/dlmalloc.c"),
      license: "CC0-1.0",
      purl: "pkg:generic/dlmalloc",
    },
    ...librariesOfLlvm(),
    {
      name: "Unicode Character Database",
      version: versionIn(/Unicode ([\d.]+\d)/, root, "core/src/text/unicode_tables.inc"),
      license: "Unicode-3.0",
      purl: "pkg:generic/unicode-character-database",
    },
  ];
}

const { Component, Bom, NamedLicense, LicenseExpression, SpdxLicense } = CycloneDX.Models;

function licenseOf(license) {
  if (license.includes(" ")) return new LicenseExpression(license);
  return CycloneDX.SPDX.isSupportedSpdxId(license)
    ? new SpdxLicense(license)
    : new NamedLicense(license);
}

function component({ name, version, license, purl, hash, ...rest }) {
  const made = new Component(CycloneDX.Enums.ComponentType.Library, name, {
    version,
    purl: `${purl}@${version}`,
    bomRef: `${name}@${version}`,
    ...rest,
  });
  if (hash !== undefined) made.hashes.set(CycloneDX.Enums.HashAlgorithm["SHA-256"], hash);
  made.licenses.add(licenseOf(license));
  return made;
}

const { name, version, description, license } = JSON.parse(read(root, "package.json"));
const bom = new Bom();
bom.metadata.component = component({
  name,
  version,
  description,
  license,
  purl: `pkg:npm/${name}`,
});
for (const each of compiledIn()) {
  const made = component(each);
  bom.components.add(made);
  bom.metadata.component.dependencies.add(made.bomRef);
}
const factory = new CycloneDX.Serialize.JSON.Normalize.Factory(CycloneDX.Spec.Spec1dot6);
const serializer = new CycloneDX.Serialize.JsonSerializer(factory);
console.log(serializer.serialize(bom, { sortLists: true, space: 2 }));
