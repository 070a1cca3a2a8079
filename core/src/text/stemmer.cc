#include "text/stemmer.h"

#include <algorithm>

#include "text/languages/language.h"
#include "text/languages/other_scripts.h"

namespace keepsake::search {
namespace {

bool IsLatin(const std::string& word) {
  return std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

void Stem(Language language, std::string& word) {
  if (language == Language::kNone || StemOtherScript(word) || !IsLatin(word)) return;
  if (const auto stem = WordsOf(language).stem; stem != nullptr) stem(word);
}

}  // namespace keepsake::search
