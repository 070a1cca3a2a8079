#!/usr/bin/env bash
# Greps the tree for what must never be there; ARCHITECTURE.md says why. layering.mjs
# looks at the imports.
set -u
cd "$(dirname "$0")/.."
failures=0
fail() { echo "layering: $1"; failures=$((failures + 1)); }

# forbid <what it means> <pattern> <path>…
forbid() {
  local meaning=$1 pattern=$2 hits
  shift 2
  hits=$(grep -rnIE --include='*.h' --include='*.cc' --include='*.ts' --include='*.mjs' -e "$pattern" "$@" |
    grep -vE '^[^:]+:[0-9]+: *(//|\*)')
  [ -z "$hits" ] || fail "$meaning
$hits"
}
without() { find "$1" -type f \( -name '*.h' -o -name '*.cc' \) | grep -vE "$2"; }

forbid "Emscripten is known to wasm/ only" '[Ee]mscripten|EM_JS|EM_ASM' core
forbid "LangGraph is known to js/ only" '[Ll]ang[Gg]raph/|@langchain' wasm
# What is of a connection, and not of our tables, is asked for there.
forbid "SQL stands in core/, js/src/sqlite and the bucket of a Durable Object's rows only" '(SELECT .+ FROM|INSERT INTO|INSERT OR|DELETE FROM|CREATE TABLE|PRAGMA) ' $(find js/src -name '*.ts' ! -path 'js/src/sqlite/*' ! -path js/src/bucket/adapters/durable.ts)
forbid "only the loader imports the glue" "from ['\"].*keepsake\.mjs['\"]" $(find js/src -name '*.ts' ! -path 'js/src/wasm/*')
forbid "sqlite3.h is known to core/src/sql and wasm/ only" 'sqlite3\.h' $(without core '^core/src/sql/')
forbid "JSON is read by core/src/json only" '(nlohmann|rapidjson|simdjson)' $(without core '^core/include/keepsake/json\.h$')
forbid "json.h is for programs that use the core" 'keepsake/json\.h' core wasm
forbid "hnswlib is the judge of a test" 'hnswlib' core wasm
forbid "nothing prints out of core" '\b(printf|fprintf|std::cout|std::cerr|puts)\b *[(<]' core
forbid "nothing throws or aborts in core" '\b(throw|abort\(|exit\(|assert\()' core/src core/include

[ "$failures" -eq 0 ] && echo "layering: ok"
exit $((failures > 0))
