// Words in groups, to be looked up: a binary search, made of texts that are easy to read.
#ifndef KEEPSAKE_TEXT_WORD_LIST_H_
#define KEEPSAKE_TEXT_WORD_LIST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace keepsake::search {

class WordList {
 public:
  // Each group has its words between spaces. They are borrowed.
  explicit WordList(std::span<const std::string_view> groups);

  // The group of a word, 1 for the first; 0 if it is in none.
  std::uint32_t GroupOf(std::string_view word) const;

 private:
  struct Entry {
    std::string_view word;
    std::uint32_t group;
  };
  std::vector<Entry> entries_;  // by word
};

// Whether one of the parts stands anywhere in the text.
template <std::size_t N>
bool HoldsAny(std::string_view text, const std::string_view (&parts)[N]) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.contains(part); });
}

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_WORD_LIST_H_
