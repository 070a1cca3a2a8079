#include "search/substring.h"

#include <algorithm>

namespace keepsake::search {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

}  // namespace

std::string ToLowerAscii(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), Lower);
  return lower;
}

bool ContainsFolded(std::string_view text, std::string_view lower) {
  return !std::ranges::search(text, lower, {}, Lower).empty() || lower.empty();
}

}  // namespace keepsake::search
