// Sends all rows of a database, piece by piece, while others write to it.
//
// A pass goes over the tables in the order of their keys. Meanwhile triggers note in
// `transfer_changes` the key of every row that is written, and when the pass is over
// those rows are sent as they are then. With the last piece everything is as it was at
// that moment, and nothing of another. Where to go on is said by the cursor of the last
// piece that arrived, not kept here: a piece that was lost is asked for again.
#ifndef KEEPSAKE_TRANSFER_ROW_EXPORT_H_
#define KEEPSAKE_TRANSFER_ROW_EXPORT_H_

#include <cstdint>
#include <string_view>

#include "keepsake/bytes.h"
#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake::transfer {

class RowExport {
 public:
  // `database` is borrowed.
  explicit RowExport(sql::Database& database) : database_(database) {}

  // The piece behind `cursor`. Without one an export begins, with the first piece, and
  // ends any earlier one. kNotFound if this export was ended meanwhile.
  Result<Bytes> Read(std::string_view export_id, std::uint64_t number, ByteView cursor,
                     std::int64_t now_ms);
  // Ends this export, or whichever there is. Nothing is noted any more.
  Status End(std::string_view export_id);
  Status End();
  // Ends one that began over a day ago: somebody did not come back.
  Status EndAbandoned(std::int64_t now_ms);

 private:
  Status Begin(std::string_view export_id, std::int64_t now_ms);
  Result<bool> Runs(std::string_view export_id);

  sql::Database& database_;
};

}  // namespace keepsake::transfer

#endif  // KEEPSAKE_TRANSFER_ROW_EXPORT_H_
