// Words in groups, to be looked up: a table of hashes, made of texts that are easy to read.
#ifndef KEEPSAKE_TEXT_WORD_LIST_H_
#define KEEPSAKE_TEXT_WORD_LIST_H_

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

  // The group of a word, 1 for the first; 0 if it is in none. One of several is in the first of
  // them.
  std::uint32_t GroupOf(std::string_view word) const;

 private:
  struct Entry {
    std::string_view word;
    std::uint32_t group = 0;
  };
  // Where the word is, or the first free place behind: at least half of all are free.
  std::size_t PlaceOf(std::string_view word) const;

  std::vector<Entry> entries_;  // by hash; a power of two
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_WORD_LIST_H_
