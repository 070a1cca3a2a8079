#include "text/substring.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "json/strings.h"
#include "text/unicode.h"

namespace keepsake::search {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<std::uint8_t>(c) < 0x80; });
}

// How many bytes at the beginning are characters of three that no folding changes.
std::size_t UnfoldedLength(std::string_view text) {
  static const FoldBlocks& folded = FoldedBlocks();
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto is_tail = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  std::size_t at = 0;
  for (; at + 3 <= text.size(); at += 3) {
    if (byte(at) <= 0xE0 || byte(at) > 0xEC || !is_tail(at + 1) || !is_tail(at + 2)) break;
    if (folded[(byte(at) & 0x0FU) << 6 | (byte(at + 1) & 0x3FU)]) break;
  }
  return at;
}

std::string Folded(std::string_view text) {
  std::string folded;
  folded.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = UnfoldedLength(text);
    if (length > 0) {
      folded += text.substr(0, length);
    } else {
      const Character character = FirstCharacter(text);
      AppendFolded(character.code_point, folded);
      length = character.length;
    }
    text.remove_prefix(length);
  }
  return folded;
}

// As JSON.stringify() does.
std::string Escaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef", kShort = "btn.fr";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (c == '"' || c == '\\') {
      escaped += {'\\', c};
    } else if (byte >= 0x20) {
      escaped += c;
    } else if (byte >= '\b' && byte <= '\r' && byte != '\v') {
      escaped += {'\\', kShort[byte - '\b']};
    } else {
      escaped += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return escaped;
}

// Up to so many bytes, a search that begins anew at each place is fast whatever the text is.
constexpr std::size_t kShortBytes = 64;

// Knuth, Morris and Pratt: in time that grows with the text and the piece, not with their product.
bool ContainsLong(std::string_view text, std::string_view piece) {
  std::vector<std::size_t> borders(piece.size());
  const auto next = [&](std::size_t found, char c) {
    while (found > 0 && piece[found] != c) found = borders[found - 1];
    return piece[found] == c ? found + 1 : 0;
  };
  for (std::size_t i = 1; i < piece.size(); ++i) borders[i] = next(borders[i - 1], piece[i]);
  std::size_t found = 0;
  for (const char c : text) {
    found = next(found, Lower(c));
    if (found == piece.size()) return true;
  }
  return false;
}

// `folded` has no capital letter of ASCII, and neither has a text that was folded.
bool Contains(std::string_view text, std::string_view folded) {
  const bool is_long = folded.size() > kShortBytes;
  if (!IsAscii(text)) {
    const std::string other = Folded(text);
    return is_long ? ContainsLong(other, folded) : other.find(folded) != std::string::npos;
  }
  if (is_long) return ContainsLong(text, folded);
  return !std::ranges::search(text, folded, {}, Lower).empty();
}

}  // namespace

std::string ToLowerAscii(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), Lower);
  return lower;
}

Substring::Substring(std::string_view query) : folded_(Folded(query)), escaped_(Escaped(folded_)) {
  // A mark alone, which folds away, is in no text that is folded.
  if (folded_.empty()) folded_ = query;
  if (escaped_ == folded_) escaped_.clear();
}

bool Substring::IsIn(std::string_view text) const { return Contains(text, folded_); }

bool Substring::IsInJson(std::string_view json) const {
  const auto is_in = [&](std::string_view text) {
    return Contains(text, folded_) || (!escaped_.empty() && Contains(text, escaped_));
  };
  if (!is_in(json)) return false;
  return folded_.contains('"') || is_in(json::WithoutNames(json));
}

}  // namespace keepsake::search
