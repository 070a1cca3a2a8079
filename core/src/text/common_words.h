// How common words are in general: what a store of few items can't tell. A word that is in no list
// is rare.
#ifndef KEEPSAKE_TEXT_COMMON_WORDS_H_
#define KEEPSAKE_TEXT_COMMON_WORDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "keepsake/text_config.h"

namespace keepsake::search {

enum class Commonness : std::uint8_t {
  kRare,
  kCommon,  // live, work, name
  kVague,   // go, time, day
  kTalk,    // thanks, know, great: people say it to each other, whatever they speak of
  kAsking,  // tell, remember, summarise: says that something is asked for
};

// Of a stem; of a character, or a pair of such, in a script without spaces.
Commonness CommonnessOf(std::string_view stem, Language language);
// Of a folded word, which may be a stop word.
Commonness CommonnessOfWord(std::string word, Language language);

// In which language most of these folded words say little: `usual`, unless it is more of them in
// another one. People speak theirs, whatever a store was opened for.
Language LanguageOf(std::span<const std::string> words, Language usual);

// About how many of all texts that people keep hold it, 0…1.
double GeneralShare(Commonness commonness);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_COMMON_WORDS_H_
