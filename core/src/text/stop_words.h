// Words that say little. They are stored, for phrases, and dropped from questions.
#ifndef KEEPSAKE_TEXT_STOP_WORDS_H_
#define KEEPSAKE_TEXT_STOP_WORDS_H_

#include <string_view>

#include "keepsake/text_config.h"

namespace keepsake::search {

// Of a folded word, without apostrophes, before it is stemmed.
bool IsStopWord(std::string_view word, Language language);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_STOP_WORDS_H_
