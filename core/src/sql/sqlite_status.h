// What a SQLite result code means to a caller of keepsake.
#ifndef KEEPSAKE_SQL_SQLITE_STATUS_H_
#define KEEPSAKE_SQL_SQLITE_STATUS_H_

#include <cstdint>
#include <string_view>

#include "keepsake/status.h"

struct sqlite3;

namespace keepsake::sql {

// The Status of an extended result code other than SQLITE_OK. `path` names the
// database; `detail` is SQLite's own text, shown where ours says too little.
Status SqliteStatus(int result_code, std::string_view path, std::string_view detail);

// That of a page that is not what was written, 0 for the log.
Status DamagedPageStatus(std::uint32_t page, std::string_view path);

// The Status of the last failed call on `connection`.
Status LastStatus(sqlite3* connection, std::string_view path);

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_SQLITE_STATUS_H_
