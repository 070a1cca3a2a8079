// The texts that begin with a prefix, as a half-open range. The prefix is empty, or ends with
// a byte that is no last byte of its kind: that of a namespace with U+001F, that of a
// scope's threads with "/".
#ifndef KEEPSAKE_SQL_PREFIX_RANGE_H_
#define KEEPSAKE_SQL_PREFIX_RANGE_H_

#include <string>
#include <string_view>
#include <utility>

#include "keepsake/database.h"

namespace keepsake::sql {

class PrefixRange {
 public:
  explicit PrefixRange(std::string encoded_prefix)
      : first_(std::move(encoded_prefix)), end_(first_) {
    if (!end_.empty()) ++end_.back();  // U+0020 after U+001F, "0" after "/"
  }

  Param first() const { return std::string_view(first_); }
  // All text sorts before any blob, which makes an empty one the end of everything.
  Param end() const { return end_.empty() ? Param(ByteView()) : Param(std::string_view(end_)); }

 private:
  std::string first_;
  std::string end_;
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_PREFIX_RANGE_H_
