// JSON read where it lies: a scanner over text, no tree. Our own, because a filter looks at
// one member, and a tree costs more than the rest of a search: README.md. Its judge is
// nlohmann::json, in tests/fuzz/json_judge.h.
// Validate() accepts text once, when it is stored. All else takes accepted text
// and stays within its bounds even if it is not (a damaged file must not crash).
//
// A "raw" value is exactly the characters of one value, without space around; a
// raw string keeps its quotes and escapes.
#ifndef KEEPSAKE_JSON_JSON_H_
#define KEEPSAKE_JSON_JSON_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keepsake/status.h"

namespace keepsake::json {

inline constexpr std::size_t kMaxDepth = 1000;

// kInvalidValue, with the byte where it goes wrong, unless `text` is one JSON
// value (RFC 8259) in well-formed UTF-8, nested at most kMaxDepth deep.
Status Validate(std::string_view text);

enum class Kind : std::uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };
Kind KindOf(std::string_view raw);

// The raw value of a whole text: the space around it taken off.
std::string_view Root(std::string_view text);

// Goes over the members of a raw object in their order; any other value has none.
class ObjectReader {
 public:
  explicit ObjectReader(std::string_view raw);
  bool Next();
  std::string_view key() const { return key_; }  // raw
  std::string_view value() const { return value_; }

 private:
  const char* at_;
  const char* end_;
  std::string_view key_;
  std::string_view value_;
};

// Goes over the elements of a raw array; any other value has none.
class ArrayReader {
 public:
  explicit ArrayReader(std::string_view raw);
  bool Next();
  std::string_view value() const { return value_; }

 private:
  const char* at_;
  const char* end_;
  std::string_view value_;
};

// The member of a raw object by its unescaped key; the last of several, as in
// JavaScript. nullopt if there is none, or `raw` is no object.
std::optional<std::string_view> FindMember(std::string_view raw, std::string_view key);

// The members of a raw object by unescaped key, sorted and distinct.
std::vector<std::pair<std::string, std::string_view>> SortedMembers(std::string_view raw);

// What a raw string stands for. Lone surrogates come out as in WTF-8, so that
// comparing bytes compares code points.
std::string Unescape(std::string_view raw);

// As Unescape(), but U+FFFD for a lone surrogate: text to give away.
std::string UnescapeToUtf8(std::string_view raw);

double ToDouble(std::string_view raw_number);

// Deep equality: numbers as doubles, strings by code point, members in any order.
bool Equal(std::string_view raw_a, std::string_view raw_b);

// Two numbers, or two strings by code point; everything else is unordered.
std::partial_ordering Compare(std::string_view raw_a, std::string_view raw_b);

// The raw value laid out as JavaScript's JSON.stringify(value, null, 2) does;
// strings and numbers stay as they are written. nullopt beyond `max_bytes`:
// indentation can make a deep value a thousand times as large.
std::optional<std::string> Pretty(std::string_view raw, std::size_t max_bytes);

}  // namespace keepsake::json

#endif  // KEEPSAKE_JSON_JSON_H_
