// What is known of a word without reading it: enough to say that most others are not like it.
#ifndef KEEPSAKE_TEXT_WORD_MARK_H_
#define KEEPSAKE_TEXT_WORD_MARK_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keepsake::search {

struct WordMark {
  std::uint32_t letters = 0;  // a bit for each byte that it has, by its last five bits
  std::uint32_t ending = 0;   // its last four bytes, or fewer

  explicit WordMark(std::string_view word) {
    for (const char c : word) {
      const auto byte = static_cast<std::uint8_t>(c);
      letters |= std::uint32_t{1} << (byte % 32);
      ending = ending << 8 | byte;
    }
  }

  // REQUIRES: `other` has four bytes.
  bool MayEndWith(const WordMark& other) const { return ending == other.ending; }
  bool MayHold(const WordMark& other) const { return (other.letters & ~letters) == 0; }
  // How many bytes at least must be replaced, inserted or deleted to make one the other.
  std::size_t LeastEdits(const WordMark& other) const {
    return (static_cast<std::size_t>(std::popcount(letters ^ other.letters)) + 1) / 2;
  }
  // The same of the same word, else any number.
  std::uint32_t number() const { return (letters * 0x9E37'79B1U ^ ending) * 0x85EB'CA6BU >> 8; }
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_WORD_MARK_H_
