#include "keepsake/database.h"

namespace keepsake::sql {

Status Database::RunFlat(const char* sql, std::size_t sql_size, const Param* params,
                         std::size_t param_count, const RowCallback& on_row) {
  return Run(std::string_view(sql, sql_size), std::span(params, param_count), on_row);
}

}  // namespace keepsake::sql
