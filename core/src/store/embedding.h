// Which texts of a value are embedded, at once or later.
#ifndef KEEPSAKE_STORE_EMBEDDING_H_
#define KEEPSAKE_STORE_EMBEDDING_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/operation.h"
#include "keepsake/status.h"
#include "keepsake/store.h"

namespace keepsake {

struct PathTexts {
  std::vector<std::string> paths;  // as FieldVector::path
  std::vector<std::string> texts;  // parallel to `paths`
};

// REQUIRES: `value` is valid JSON.
Result<PathTexts> TextsToEmbed(std::string_view value, std::span<const std::string> paths);

// The paths that texts with these paths came from: "turns[*].text" of "turns[*].text.3".
std::vector<std::string> PathsOfTexts(std::span<const std::string> text_paths);

// An item that was put without the vectors of its texts waits for those of some paths, each of
// which may be one of these, too.
inline constexpr std::string_view kIndexFields = "";   // the index's, whatever they will be
inline constexpr std::string_view kNoTextPath = "{}";  // which finds nothing

// What a put waits for; nothing if it has its vectors, or no texts. `index` may be null, and
// `is_indexed` true all the same: vectors are kept, and this store doesn't know of what. Where
// there is no index yet, all items will wait for its fields, but those that chose something here.
// Sorted.
std::vector<std::string> PathsToAwait(const PutOp& op, const IndexConfig* index, bool is_indexed);

// What has to be embedded of an item that waits for `paths`. Nothing if it would be too much.
// REQUIRES: `value` is valid JSON.
PathTexts TextsAwaited(std::string_view value, std::span<const std::string> paths,
                       std::span<const std::string> index_fields);

// Tells apart what waits: ids are given again, also by an import, while a model is asked.
std::uint32_t FingerprintOf(std::string_view value, std::span<const std::string> paths);

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_EMBEDDING_H_
