// What a read, which would also like to write, goes on after.
#ifndef KEEPSAKE_SQL_CANNOT_WRITE_H_
#define KEEPSAKE_SQL_CANNOT_WRITE_H_

#include "keepsake/status.h"

namespace keepsake::sql {

// Whether another connection writes just now, or the disk is full.
inline bool CannotWrite(const Status& status) {
  return status.code() == StatusCode::kBusy || status.code() == StatusCode::kStorageFull;
}

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_CANNOT_WRITE_H_
