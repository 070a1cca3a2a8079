// A Checkpointer in a SQLite database.
#ifndef KEEPSAKE_SQLITE_SAVER_H_
#define KEEPSAKE_SQLITE_SAVER_H_

#include <memory>

#include "keepsake/checkpointer.h"
#include "keepsake/database.h"

namespace keepsake {

// `database` is borrowed and must outlive the saver; a store may share it.
std::unique_ptr<Checkpointer> MakeSqliteSaver(sql::Database& database);

}  // namespace keepsake

#endif  // KEEPSAKE_SQLITE_SAVER_H_
