#include "text/spelling.h"

#include <algorithm>

#include "base/common_prefix.h"
#include "base/varint.h"
#include "text/unicode.h"

namespace keepsake::search {
namespace {

std::u32string CharactersOf(std::string_view text) {
  std::u32string characters;
  while (!text.empty()) {
    const Character character = FirstCharacter(text);
    characters += character.code_point;
    text.remove_prefix(character.length);
  }
  return characters;
}

}  // namespace

std::size_t AllowedTypos(std::string_view word) {
  const std::size_t letters = CharactersOf(word).size();
  if (letters < 4 || (word[0] >= '0' && word[0] <= '9')) return 0;
  return letters < 8 ? 1 : 2;
}

Spelling::Spelling(std::string_view written, std::size_t most)
    : written_(CharactersOf(written)), most_(most) {
  distances_.resize(written_.size() + 1);
  for (std::size_t j = 0; j <= written_.size(); ++j) {
    At(0, j) = static_cast<std::uint8_t>(std::min(j, most + 1));
  }
}

std::size_t Spelling::DistanceTo(std::string_view word) {
  const std::size_t shared = CommonPrefix(BytesOf(last_), BytesOf(word));
  last_ = word;
  while (!rows_.empty() && rows_.back().end > shared) rows_.pop_back();
  for (std::size_t end = rows_.empty() ? 0 : rows_.back().end; end < word.size();) {
    if (!rows_.empty() && rows_.back().least > most_) break;
    const Character character = FirstCharacter(word.substr(end));
    end += character.length;
    AddRow(character.code_point, end);
  }
  hopeless_ = !rows_.empty() && rows_.back().least > most_ ? rows_.back().end : 0;
  return hopeless_ > 0 ? most_ + 1 : At(rows_.size(), written_.size());
}

// Beyond `most` columns to both sides of its diagonal a row has nothing that is near enough.
void Spelling::AddRow(char32_t character, std::size_t end) {
  const std::size_t width = written_.size() + 1, i = rows_.size() + 1;
  const auto far = static_cast<std::uint8_t>(most_ + 1);
  distances_.resize((i + 1) * width);
  std::uint8_t *const row = &distances_[i * width];
  const std::uint8_t *const last = row - width, *const before = i > 1 ? last - width : nullptr;
  std::fill(row, row + width, far);
  std::uint8_t least = far;
  for (std::size_t j = i > most_ ? i - most_ : 0; j < width && j <= i + most_; ++j) {
    unsigned distance = last[j] + 1U;
    if (j > 0) {
      const unsigned replaced = last[j - 1] + (written_[j - 1] == character ? 0U : 1U);
      distance = std::min({distance, row[j - 1] + 1U, replaced});
      const bool is_swap = before != nullptr && j > 1 && written_[j - 2] == character &&
                           written_[j - 1] == rows_.back().character;
      if (is_swap) distance = std::min(distance, before[j - 2] + 1U);
    }
    row[j] = static_cast<std::uint8_t>(std::min<unsigned>(distance, far));
    least = std::min(least, row[j]);
  }
  rows_.push_back({character, end, least});
}

}  // namespace keepsake::search
