// Text analysis: what of a text can be found. The same tokens on every platform.
//
// Words are folded (case, marks, width; see unicode.h), parted, and stemmed. Beside
// its parts a compound gives a token of its own: getUserName, max_tokens, e-mail,
// ann@example.com, 3.14, 10:30. Scripts without spaces give each character and each
// pair of neighbours. Dates give tokens for day, month and day of the year, emoji
// one each. Small numbers in English words are digits.
#ifndef KEEPSAKE_TEXT_ANALYSIS_H_
#define KEEPSAKE_TEXT_ANALYSIS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/stemmer.h"

namespace keepsake::search {

// What a stored token is made by. Persistent: raise it when tokens change, so that
// texts are analysed anew.
inline constexpr std::uint32_t kAnalysisVersion = 4;

inline constexpr std::size_t kMaxTokenBytes = 64;
// Of one text; what follows can't be found.
inline constexpr std::size_t kMaxTokens = 65536;

struct Token {
  enum class Kind : std::uint8_t {
    kWord,
    kCharacter,  // of a script without spaces
    kPair,       // of such characters
    kCompound,   // a whole whose parts are words
    kTelephone,  // a number of one, whose groups are words
    kDate,
    kEmoji,
  };

  std::string text;  // at most kMaxTokenBytes
  Kind kind = Kind::kWord;
  bool is_stop_word = false;   // says little: the, 的
  std::uint32_t position = 0;  // counts words; a compound has that of its first part
  std::uint32_t begin = 0;     // in bytes of the text
  std::uint32_t end = 0;
};

// 3rd is 3.
void CutOrdinal(std::string& folded);

// In the order of `begin`; what is malformed parts words. Never fails.
std::vector<Token> Analyze(std::string_view text, Language language);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_ANALYSIS_H_
