// The schema of a keepsake database, and the numbered, forward-only steps that
// make it. It runs through the port, so that both adapters have one schema.
#ifndef KEEPSAKE_SQL_MIGRATIONS_H_
#define KEEPSAKE_SQL_MIGRATIONS_H_

#include <cstdint>
#include <string_view>

#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake::sql {

// Which version first had what. Persistent, never renumber.
namespace schema {
inline constexpr std::int64_t kFirst = 1;
inline constexpr std::int64_t kAnswers = 2;
inline constexpr std::int64_t kTexts = 3;
inline constexpr std::int64_t kVectorIds = 4;
inline constexpr std::int64_t kSharedContent = 5;
inline constexpr std::int64_t kGraphs = 6;
}  // namespace schema

// The version that this build writes.
extern const std::int64_t kSchemaVersion;

// The schema version of `database`, 0 if it has no tables at all. Only reads.
// kForeignFile for tables without our `meta` row, kNewerSchema for a version
// above kSchemaVersion. `path` is for messages.
Result<std::int64_t> ReadSchemaVersion(Database& database, std::string_view path);

// Runs the steps after `version`, up to `target`, in one transaction: all or none.
Status Migrate(Database& database, std::int64_t version, std::int64_t target = kSchemaVersion);

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_MIGRATIONS_H_
