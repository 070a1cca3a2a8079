// Other words that a term of a question is found by.
#ifndef KEEPSAKE_TEXT_NEAR_WORDS_H_
#define KEEPSAKE_TEXT_NEAR_WORDS_H_

#include <vector>

#include "text/text_query.h"
#include "text/text_view.h"

namespace keepsake::search {

// The words of the items that are nearest to the term as it is written: a letter is wrong, or
// two, but not the first one.
std::vector<Alternative> MisspellingsOf(const TextTerm& term, const TextView& texts);

// Words that hold the term, as "September" holds "temb".
std::vector<Alternative> WordsWith(const TextTerm& term, const TextView& texts);

// Words that end with the term, as "Hauptstrasse" ends with "strasse": a compound is mostly
// what its end says, in whatever language.
std::vector<Alternative> WordsThatEndWith(const TextTerm& term, const TextView& texts);

// Compounds that the term is a part of, and parts that it is made of: Krankenversicherung and
// Versicherung.
std::vector<Alternative> CompoundsOf(const TextTerm& term, const TextView& texts);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_NEAR_WORDS_H_
