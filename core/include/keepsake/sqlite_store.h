// A Store in a SQLite database. Answers as InMemoryStore does, and stays.
#ifndef KEEPSAKE_SQLITE_STORE_H_
#define KEEPSAKE_SQLITE_STORE_H_

#include <memory>

#include "keepsake/database.h"
#include "keepsake/store.h"

namespace keepsake {

// `database` is borrowed and must outlive the store; a checkpointer may share it.
// kDimensionMismatch if vectors of another length are stored already.
Result<std::unique_ptr<Store>> MakeSqliteStore(sql::Database& database, StoreOptions options = {});

}  // namespace keepsake

#endif  // KEEPSAKE_SQLITE_STORE_H_
