// The answer of a statement that gives one number, 0 without a row.
#ifndef KEEPSAKE_STORE_SQLITE_READ_INT_H_
#define KEEPSAKE_STORE_SQLITE_READ_INT_H_

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake {

inline Result<std::int64_t> ReadInt(sql::Database& database, std::string_view sql,
                                    std::initializer_list<sql::Param> params = {}) {
  std::int64_t number = 0;
  Status status = database.Run(sql, params, [&](const sql::Row& row) { number = row.Int(0); });
  if (!status.ok()) return std::unexpected(std::move(status));
  return number;
}

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_READ_INT_H_
