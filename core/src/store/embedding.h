// Which texts of a value are embedded.
#ifndef KEEPSAKE_STORE_EMBEDDING_H_
#define KEEPSAKE_STORE_EMBEDDING_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/status.h"

namespace keepsake {

struct PathTexts {
  std::vector<std::string> paths;  // as FieldVector::path
  std::vector<std::string> texts;  // parallel to `paths`
};

// REQUIRES: `value` is valid JSON.
Result<PathTexts> TextsToEmbed(std::string_view value, std::span<const std::string> paths);

// The paths that texts with these paths came from: "turns[*].text" of "turns[*].text.3".
std::vector<std::string> PathsOfTexts(std::span<const std::string> text_paths);

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_EMBEDDING_H_
