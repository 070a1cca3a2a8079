// A Checkpointer in a SQLite database.
#ifndef KEEPSAKE_SQLITE_SAVER_H_
#define KEEPSAKE_SQLITE_SAVER_H_

#include <memory>

#include "keepsake/checkpointer.h"
#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake {

// `database` is borrowed and must outlive the saver; a store may share it. Brings
// the checkpoints of an older file into today's layout first, which may take a
// while; if that fails, they are as they were.
Result<std::unique_ptr<Checkpointer>> MakeSqliteSaver(sql::Database& database);

}  // namespace keepsake

#endif  // KEEPSAKE_SQLITE_SAVER_H_
