// Stems: the part that the forms of a word share. Words come folded. Our own, because
// Snowball's stemmers expect words with their accents.
#ifndef KEEPSAKE_TEXT_STEMMER_H_
#define KEEPSAKE_TEXT_STEMMER_H_

#include <string>

#include "keepsake/text_config.h"

namespace keepsake::search {

// English: Porter2 (M. Porter, "The English (Porter2) stemming algorithm",
// snowballstem.org/algorithms/english/stemmer.html), and irregular forms become
// regular ones first: went is go. The others are light: endings of number, gender
// and case, in the manner of J. Savoy, "Light stemming approaches for the French,
// Portuguese, German and Hungarian languages" (SAC 2006).
void Stem(Language language, std::string& word);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_STEMMER_H_
