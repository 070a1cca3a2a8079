// What text analysis knows of Unicode: classes of characters and their folding.
// From tables of one version, the same on every platform and in every year. Our own, because a
// library such as ICU is larger than our whole module.
#ifndef KEEPSAKE_TEXT_UNICODE_H_
#define KEEPSAKE_TEXT_UNICODE_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace keepsake::search {

// The numbers of scripts/unicode-tables.mjs.
enum class CharacterClass : std::uint8_t {
  kNone = 0,      // parts words
  kLetter = 1,    // and marks that are vowels
  kDigit = 2,     // decimal, of any script
  kUnspaced = 3,  // of a script that does not part words by spaces: Han, kana, Hangul, Thai …
  kEmoji = 4,
  kIgnored = 5,  // marks that fold away, joiners, soft hyphens
};

CharacterClass ClassOf(char32_t code_point);

// In lower case, without marks, in plain letters and ASCII digits: É is e, Ø is o,
// ß is ss, ４ is 4. Kana and Hangul keep their marks.
void AppendFolded(char32_t code_point, std::string& out);

// Whether characters of the first plane are folded, by blocks of so many: Han and most others
// are not, and are what they are.
inline constexpr char32_t kFoldBlock = 64;
using FoldBlocks = std::bitset<0x10000 / kFoldBlock>;
const FoldBlocks& FoldedBlocks();

struct Character {
  char32_t code_point;
  std::size_t length;  // in bytes; 1 of what is malformed, which is U+FFFD
};
// REQUIRES: `text` is not empty.
Character FirstCharacter(std::string_view text);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_UNICODE_H_
