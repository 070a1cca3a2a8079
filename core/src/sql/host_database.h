// The Database over a host's own SQLite, called synchronously through a table of
// functions: Durable Objects' `ctx.storage.sql`, for example.
//
// Parameters and rows cross as bytes, little-endian, one value after another:
//   value := 0                         NULL
//          | 1 int64  | 2 float64
//          | 3 uint32 bytes            TEXT, UTF-8
//          | 4 uint32 bytes            BLOB
#ifndef KEEPSAKE_SQL_HOST_DATABASE_H_
#define KEEPSAKE_SQL_HOST_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "keepsake/bytes.h"
#include "keepsake/database.h"
#include "keepsake/status.h"
#include "sql/migrations.h"

namespace keepsake::sql {

struct HostSql {
  // Takes a row; false stops the statement.
  using TakeRow = bool (*)(void* taker, ByteView row);
  // True commits, false rolls back.
  using Body = bool (*)(void* argument);

  void* context;  // handed to every function
  // Whether every row costs money, so that tables are made when they are needed.
  bool bills_rows = true;

  // Runs one statement to its end. A StatusCode. `take_row` may call run() again; it is
  // null if the statement answers no rows.
  std::uint16_t (*run)(void* context, std::string_view sql, ByteView params, TakeRow take_row,
                       void* taker);
  // Calls `body` once, within a transaction; within another one, within a
  // savepoint. A StatusCode: kOk also if the body asked to roll back.
  std::uint16_t (*transaction)(void* context, Body body, void* argument);
  // Bytes that the database takes.
  double (*size)(void* context);
  // Why the last call failed; valid until the next one.
  std::string_view (*message)(void* context);
};

// Brings the schema up to date, as OpenDatabase() does, but beside the host's own
// tables: only one of a name of ours is kForeignFile, and nothing is changed then.
// Where rows are billed, a table is made by the first statement that needs it and isn't a deletion
// from it: an object that only has items has no others. Elsewhere all are made at once, so that no
// read has to write.
// What host.context points at is borrowed. Flushing is the host's duty; exports and
// imports are kUnsupported.
Result<std::unique_ptr<Database>> OpenHostDatabase(const HostSql& host, Schema schema = kSchema);

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_HOST_DATABASE_H_
