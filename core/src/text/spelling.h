// How far words are from one another as they are written.
#ifndef KEEPSAKE_TEXT_SPELLING_H_
#define KEEPSAKE_TEXT_SPELLING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keepsake::search {

// How many letters of a word may be wrong: 0, 1 or 2.
std::size_t AllowedTypos(std::string_view word);

// Compares a word with others: by the optimal string alignment distance (Damerau, 1964), counted in
// characters. What a word begins with as the one before it did is not compared again, so it is
// quickest with words in order.
class Spelling {
 public:
  Spelling(std::string_view written, std::size_t most);

  // Insertions, deletions, replacements and swaps of neighbours that lead to the other word, or
  // `most + 1` if there are more.
  std::size_t DistanceTo(std::string_view word);
  // So many bytes of the last word begin no word that is near enough; 0 if one may be.
  std::size_t hopeless() const { return hopeless_; }

 private:
  // Of the beginning of the other word that ends with a character.
  struct Row {
    char32_t character;
    std::size_t end;  // in bytes
    std::size_t least;
  };

  std::uint8_t& At(std::size_t row, std::size_t column) {
    return distances_[row * (written_.size() + 1) + column];
  }
  void AddRow(char32_t character, std::size_t end);

  std::u32string written_;
  std::size_t most_;
  std::string last_;
  std::vector<Row> rows_;                // after the one of the empty beginning
  std::vector<std::uint8_t> distances_;  // by row, that of the empty beginning first, and column
  std::size_t hopeless_ = 0;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_SPELLING_H_
