// Texts at paths of a JSON value: what an index embeds.
//
//   path   := "" | "$" | step*          "" and "$": the whole value, laid out
//   step   := name | "[" index "]" | "[*]" | "*" | "{" path ("," path)* "}"
//
// Steps of names are parted by '.'. An index may be negative. "[*]" goes over an
// array, "*" over an array or an object. "{a,b.c}" ends a path: it takes each of
// its paths of plain names. Strings, numbers and booleans are their own text,
// objects and arrays are laid out as by Pretty(); null and what is missing is none.
#ifndef KEEPSAKE_JSON_PATH_H_
#define KEEPSAKE_JSON_PATH_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/status.h"

namespace keepsake::json {

// All texts of one path together; kTooLarge beyond it.
inline constexpr std::size_t kMaxTextBytes = 64 * 1024 * 1024;

std::vector<std::string> TokenizePath(std::string_view path);

// In the order of the value. REQUIRES: `value` is valid JSON.
Result<std::vector<std::string>> TextsAtPath(std::string_view value, std::string_view path);

}  // namespace keepsake::json

#endif  // KEEPSAKE_JSON_PATH_H_
