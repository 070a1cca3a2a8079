#include "text/word_list.h"

#include <algorithm>

#include "base/heap_sort.h"

namespace keepsake::search {

WordList::WordList(std::span<const std::string_view> groups) {
  std::uint32_t number = 0;
  for (std::string_view words : groups) {
    ++number;
    while (!words.empty()) {
      const std::string_view word = words.substr(0, words.find(' '));
      if (!word.empty()) entries_.push_back({word, number});
      words.remove_prefix(std::min(words.size(), word.size() + 1));
    }
  }
  HeapSort(entries_, [](const Entry& a, const Entry& b) {
    return a.word != b.word ? a.word < b.word : a.group < b.group;
  });
}

std::uint32_t WordList::GroupOf(std::string_view word) const {
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), word,
      [](const Entry& entry, std::string_view wanted) { return entry.word < wanted; });
  return found != entries_.end() && found->word == word ? found->group : 0;
}

}  // namespace keepsake::search
