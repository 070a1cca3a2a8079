// Stems: the part that the forms of a word share. Words come folded.
#ifndef KEEPSAKE_SEARCH_STEMMER_H_
#define KEEPSAKE_SEARCH_STEMMER_H_

#include <cstdint>
#include <string>

namespace keepsake::search {

// Of words in Latin letters. Cyrillic has its own stemmer whatever the language is.
// Persistent, never renumber.
enum class Language : std::uint8_t {
  kNone = 0,  // words stay as they are
  kEnglish = 1,
  kGerman = 2,
  kFrench = 3,
  kSpanish = 4,
  kItalian = 5,
  kPortuguese = 6,
};

// English: Porter2 (M. Porter, "The English (Porter2) stemming algorithm",
// snowballstem.org/algorithms/english/stemmer.html), and irregular forms become
// regular ones first: went is go. The others are light: endings of number, gender
// and case, in the manner of J. Savoy, "Light stemming approaches for the French,
// Portuguese, German and Hungarian languages" (SAC 2006).
void Stem(Language language, std::string& word);

}  // namespace keepsake::search

#endif  // KEEPSAKE_SEARCH_STEMMER_H_
