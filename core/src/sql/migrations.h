// The schema of a keepsake database: numbered versions, forward only, each a list of
// statements. They run through the port, so that both adapters have one schema.
//
// A statement belongs to a group of tables. A file has all groups from the start, but that of a
// memory that syncs, which is made when it begins to. In a host's database a group is made by the
// first statement that needs it (host_database.h), and a version changes only the groups that are
// there by then.
#ifndef KEEPSAKE_SQL_MIGRATIONS_H_
#define KEEPSAKE_SQL_MIGRATIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake::sql {

enum class TableGroup : std::uint8_t {
  kMeta,
  kAnswers,
  kItems,
  kVectors,
  kTexts,
  kCheckpoints,
  kGovernance,
  kFields,
  kHistory,
  kAudit,
  kSync
};

struct SchemaStatement {
  TableGroup group;
  std::string_view sql;
};

// What leads from the version before to this one.
using SchemaVersion = std::span<const SchemaStatement>;
// The n-th one (from 1) makes version n.
using Schema = std::span<const SchemaVersion>;

// The schema that this build writes.
extern const Schema kSchema;

inline std::int64_t NewestVersion(Schema schema) {
  return static_cast<std::int64_t>(schema.size());
}

// The schema version of `database`, 0 if it has no tables at all. Only reads.
// kForeignFile for tables without our `meta` row, kNewerSchema for a version
// above that of `schema`. `path` is for messages.
Result<std::int64_t> ReadSchemaVersion(Database& database, std::string_view path,
                                       Schema schema = kSchema);
// The same of one that has a table `meta`.
Result<std::int64_t> ReadVersionInMeta(Database& database, std::string_view path,
                                       Schema schema = kSchema);

enum class NewTables : std::uint8_t { kAll, kMetaOnly };

// Brings a database of `version` to the newest one, in one transaction: all or nothing.
// One of version 0 gets the tables that `made` says.
Status Migrate(Database& database, std::int64_t version, Schema schema = kSchema,
               NewTables made = NewTables::kAll);

// The group of the table with this name, if it is one of ours.
std::optional<TableGroup> GroupOfTable(std::string_view name, Schema schema = kSchema);
// Makes a group that is not there, as the newest version has it; all or nothing.
Status MakeTables(Database& database, TableGroup group, Schema schema = kSchema);
// Whether one of its tables is there.
Result<bool> HasTables(Database& database, TableGroup group, Schema schema = kSchema);
Status DropTables(Database& database, TableGroup group, Schema schema = kSchema);

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_MIGRATIONS_H_
