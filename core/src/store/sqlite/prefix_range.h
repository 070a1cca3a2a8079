// The namespaces that begin with an encoded prefix, as a half-open range of `ns`.
#ifndef KEEPSAKE_STORE_SQLITE_PREFIX_RANGE_H_
#define KEEPSAKE_STORE_SQLITE_PREFIX_RANGE_H_

#include <string>
#include <string_view>
#include <utility>

#include "keepsake/database.h"

namespace keepsake {

class PrefixRange {
 public:
  explicit PrefixRange(std::string encoded_prefix)
      : first_(std::move(encoded_prefix)), end_(first_) {
    if (!end_.empty()) ++end_.back();  // U+0020 after U+001F
  }

  sql::Param first() const { return std::string_view(first_); }
  // All text sorts before any blob, which makes an empty one the end of everything.
  sql::Param end() const {
    return end_.empty() ? sql::Param(ByteView()) : sql::Param(std::string_view(end_));
  }

 private:
  std::string first_;
  std::string end_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_PREFIX_RANGE_H_
