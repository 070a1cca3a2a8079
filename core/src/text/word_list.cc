#include "text/word_list.h"

#include <algorithm>
#include <bit>

namespace keepsake::search {

WordList::WordList(std::span<const std::string_view> groups) {
  std::size_t words = 0;
  for (const std::string_view group : groups) words += std::ranges::count(group, ' ') + 1;
  entries_.resize(std::bit_ceil(2 * words));
  std::uint32_t number = 0;
  for (std::string_view group : groups) {
    ++number;
    while (!group.empty()) {
      const std::string_view word = group.substr(0, group.find(' '));
      group.remove_prefix(std::min(group.size(), word.size() + 1));
      if (word.empty()) continue;
      Entry& entry = entries_[PlaceOf(word)];
      if (entry.group == 0) entry = {word, number};
    }
  }
}

std::size_t WordList::PlaceOf(std::string_view word) const {
  // Most words are in no list, so that little of them need be read.
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(word[at]); };
  const std::size_t hash =
      byte(0) * 131 + byte(word.size() / 2) * 31 + byte(word.size() - 1) * 7 + word.size();
  std::size_t place = hash * 0x9E37'79B1 >> 8;
  while (true) {
    place &= entries_.size() - 1;
    if (entries_[place].group == 0 || entries_[place].word == word) return place;
    ++place;
  }
}

std::uint32_t WordList::GroupOf(std::string_view word) const {
  return word.empty() ? 0 : entries_[PlaceOf(word)].group;
}

}  // namespace keepsake::search
