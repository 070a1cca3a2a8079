#include "text/common_words.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "text/languages/language.h"
#include "text/languages/other_scripts.h"
#include "text/stemmer.h"
#include "text/stop_words.h"
#include "text/word_list.h"

namespace keepsake::search {
namespace {

// Words by their stems, so that the lists can hold them as they are written.
class StemTable {
 public:
  explicit StemTable(Language language) : stems_(StemsOf(language)), list_(Views()) {}
  // The list borrows the stems.
  StemTable(StemTable&&) = default;

  std::uint32_t GroupOf(std::string_view stem) const { return list_.GroupOf(stem); }

 private:
  static std::vector<std::string> StemsOf(Language language) {
    const LanguageWords& words = WordsOf(language);
    std::vector<std::string> all;
    for (const std::string_view group : {words.asking, words.talk, words.vague, words.common}) {
      std::string& stems = all.emplace_back(" ");
      for (std::size_t begin = 1, end = 0; begin < group.size(); begin = end + 1) {
        end = group.find(' ', begin);
        std::string word(group.substr(begin, end - begin));
        Stem(language, word);
        stems += word + ' ';
      }
    }
    return all;
  }

  std::vector<std::string_view> Views() const { return {stems_.begin(), stems_.end()}; }

  std::vector<std::string> stems_;
  WordList list_;
};

}  // namespace

Commonness CommonnessOf(std::string_view stem, Language language) {
  if (!stem.empty() && static_cast<unsigned char>(stem.front()) >= 0x80) {
    return IsTalkOfOtherScript(stem) ? Commonness::kTalk : Commonness::kRare;
  }
  if (language == Language::kNone) return Commonness::kRare;
  static const std::vector<StemTable> tables = [] {
    std::vector<StemTable> all;
    for (std::size_t number = 1; number <= kAllWords.size(); ++number) {
      all.emplace_back(static_cast<Language>(number));
    }
    return all;
  }();
  constexpr Commonness kOfGroup[] = {Commonness::kRare, Commonness::kAsking, Commonness::kTalk,
                                     Commonness::kVague, Commonness::kCommon};
  return kOfGroup[tables[static_cast<std::size_t>(language) - 1].GroupOf(stem)];
}

Commonness CommonnessOfWord(std::string word, Language language) {
  if (IsStopWord(word, language)) return Commonness::kTalk;
  Stem(language, word);
  return CommonnessOf(word, language);
}

Language LanguageOf(std::span<const std::string> words, Language usual) {
  const auto common_in = [&](Language language) {
    return std::ranges::count_if(words, [&](const std::string& word) {
      return CommonnessOfWord(word, language) != Commonness::kRare;
    });
  };
  Language best = usual;
  auto most = common_in(usual);
  for (int number = 1; number <= static_cast<int>(kLastLanguage); ++number) {
    const auto other = static_cast<Language>(number);
    const auto count = common_in(other);
    if (count <= most) continue;
    best = other;
    most = count;
  }
  return best;
}

double GeneralShare(Commonness commonness) {
  switch (commonness) {
    case Commonness::kRare:
      return 0.004;
    case Commonness::kCommon:
      return 0.05;
    case Commonness::kVague:
      return 0.15;
    case Commonness::kAsking:
    case Commonness::kTalk:
      return 0.4;
  }
  return 0;
}

}  // namespace keepsake::search
