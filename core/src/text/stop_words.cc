#include "text/stop_words.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "text/languages/language.h"
#include "text/languages/other_scripts.h"
#include "text/word_list.h"

namespace keepsake::search {

bool IsStopWord(std::string_view word, Language language) {
  const bool is_latin = word.empty() || static_cast<unsigned char>(word.front()) < 0x80;
  if (!is_latin) return IsStopWordOfOtherScript(word);
  if (language == Language::kNone) return false;
  static const std::vector<WordList> lists = [] {
    std::vector<WordList> all;
    for (const LanguageWords* words : kAllWords) all.emplace_back(std::span(&words->stop_words, 1));
    return all;
  }();
  return lists[static_cast<std::size_t>(language) - 1].GroupOf(word) > 0;
}

}  // namespace keepsake::search
