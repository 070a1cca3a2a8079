#include "text/telephone.h"

#include <algorithm>
#include <vector>

namespace keepsake::search {
namespace {

constexpr std::size_t kLeastDigits = 9, kMostDigits = 15;
// Those that are the same with a country's code and without.
constexpr std::size_t kTokenDigits = 9;
// Of one that is written as one word.
constexpr std::size_t kLeastAtOnce = 10;
constexpr std::size_t kLeastCode = 3;  // 030, where 01.02.2023 is a date

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (static_cast<unsigned char>(c) & 0x80);
}

// Where the next group begins, or npos: behind a sign or two.
std::size_t NextGroup(std::string_view text, std::size_t at) {
  constexpr std::string_view kSigns = " -./()";
  const std::size_t end = std::min(at + 2, text.size());
  while (at < end && kSigns.contains(text[at])) ++at;
  return at < text.size() && IsDigit(text[at]) ? at : std::string_view::npos;
}

}  // namespace

std::optional<Telephone> TelephoneAt(std::string_view text, std::size_t begin) {
  const char before = begin > 0 ? text[begin - 1] : ' ';
  if (IsDigit(before) || IsLetter(before) || before == '.' || before == '-' || before == '/') {
    return std::nullopt;
  }
  std::string digits;
  std::vector<std::size_t> groups;
  std::size_t end = begin;
  for (std::size_t at = begin; at != std::string_view::npos; at = NextGroup(text, end)) {
    std::size_t group_end = at;
    while (group_end < text.size() && IsDigit(text[group_end])) ++group_end;
    if (digits.size() + (group_end - at) > kMostDigits) break;
    const bool begins_another = text[at] == '0' || (at > 0 && text[at - 1] == '(');
    if (digits.size() >= kLeastDigits && begins_another) break;
    digits.append(text.substr(at, group_end - at));
    groups.push_back(group_end - at);
    end = group_end;
  }
  if (end < text.size() && IsLetter(text[end])) return std::nullopt;
  const bool is_american = groups == std::vector<std::size_t>{3, 3, 4};
  const bool is_announced = before == '+' || (digits.starts_with('0') && groups[0] >= kLeastCode);
  const bool is_at_once = groups.size() == 1 && digits.size() >= kLeastAtOnce;
  if (digits.size() < kLeastDigits || !(is_american || is_announced || is_at_once)) {
    return std::nullopt;
  }
  return Telephone{"tel" + digits.substr(digits.size() - kTokenDigits), end};
}

}  // namespace keepsake::search
