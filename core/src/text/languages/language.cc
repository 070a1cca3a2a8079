#include "text/languages/language.h"

#include <vector>

namespace keepsake::search {

const LanguageWords& WordsOf(Language language) {
  static constinit const LanguageWords kNothing;
  return language == Language::kNone ? kNothing
                                     : *kAllWords[static_cast<std::size_t>(language) - 1];
}

namespace {

WordList Gathered(FunctionRef<std::span<const std::string_view>(const LanguageWords&)> lists_of) {
  std::vector<std::string_view> lists;
  for (const LanguageWords* words : kAllWords) {
    for (const std::string_view list : lists_of(*words)) lists.push_back(list);
  }
  return WordList(lists);
}

}  // namespace

std::uint32_t NumeralOf(std::string_view word, Language language) {
  if (language == Language::kNone) return 0;
  static const std::vector<WordList> lists = [] {
    std::vector<WordList> all;
    for (const LanguageWords* words : kAllWords) all.emplace_back(words->numerals);
    return all;
  }();
  return lists[static_cast<std::size_t>(language) - 1].GroupOf(word);
}

WordsOfAll::WordsOfAll(std::uint32_t count, FunctionRef<Lists(const LanguageWords&)> lists_of)
    : count_(count), list_(Gathered(lists_of)) {}

void CutEnding(std::string& word, std::size_t min_stem,
               std::initializer_list<std::string_view> endings) {
  for (std::string_view ending : endings) {
    if (word.size() >= min_stem + ending.size() && word.ends_with(ending)) {
      word.resize(word.size() - ending.size());
      return;
    }
  }
}

}  // namespace keepsake::search
