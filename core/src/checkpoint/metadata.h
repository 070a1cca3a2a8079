// What a checkpointer reads of a checkpoint's metadata, which is JSON if its
// type says so and else opaque.
#ifndef KEEPSAKE_CHECKPOINT_METADATA_H_
#define KEEPSAKE_CHECKPOINT_METADATA_H_

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/status.h"

namespace keepsake::checkpoint {

// Deep equality of some top-level members. `{"$gt":1}` is a value like any other.
class MetadataFilter {
 public:
  // `filter` is a JSON object or "", which matches everything; else kInvalidFilter.
  static Result<MetadataFilter> Parse(std::string_view filter);

  bool matches_all() const { return members_.empty(); }
  bool Matches(std::string_view type, ByteView metadata) const;

 private:
  std::vector<std::pair<std::string, std::string>> members_;  // key, raw value
};

// The runs whose checkpoints are to go.
class RunIds {
 public:
  explicit RunIds(std::span<const std::string> run_ids) : ids_(run_ids.begin(), run_ids.end()) {}

  // Whether the metadata's top-level run_id is one of them.
  bool Own(std::string_view type, ByteView metadata) const;

 private:
  std::set<std::string, std::less<>> ids_;
};

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_METADATA_H_
