#include "json/utf8.h"

#include <cstdint>

namespace keepsake::json {
namespace {

constexpr std::size_t kLongestQuote = 80;

bool IsContinuation(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }

// The second byte of a sequence that begins with `lead` lies in [low, high]: that
// is where overlong forms, surrogates and what is beyond U+10FFFF are told apart.
struct SecondByteRange {
  std::uint8_t low;
  std::uint8_t high;
};

SecondByteRange SecondByteAfter(std::uint8_t lead) {
  switch (lead) {
    case 0xE0:
      return {0xA0, 0xBF};
    case 0xED:
      return {0x80, 0x9F};
    case 0xF0:
      return {0x90, 0xBF};
    case 0xF4:
      return {0x80, 0x8F};
    default:
      return {0x80, 0xBF};
  }
}

std::size_t LengthByLead(std::uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

}  // namespace

std::size_t Utf8CharacterLength(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::size_t length = LengthByLead(byte(0));
  if (length > text.size()) return 0;
  if (length < 2) return length;
  const SecondByteRange second = SecondByteAfter(byte(0));
  if (byte(1) < second.low || byte(1) > second.high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!IsContinuation(byte(i))) return 0;
  }
  return length;
}

bool IsWellFormedUtf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const bool is_ascii = static_cast<std::uint8_t>(text[at]) < 0x80;
    const std::size_t length = is_ascii ? 1 : Utf8CharacterLength(text.substr(at));
    if (length == 0) return false;
    at += length;
  }
  return true;
}

bool HasEncodedSurrogate(std::string_view text) {
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    if (static_cast<std::uint8_t>(text[i]) == 0xED &&
        static_cast<std::uint8_t>(text[i + 1]) >= 0xA0 &&
        IsContinuation(static_cast<std::uint8_t>(text[i + 1]))) {
      return true;
    }
  }
  return false;
}

void AppendCodePoint(char32_t code_point, std::string& out) {
  const auto append = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) return append(code_point);
  if (code_point < 0x800) {
    append(0xC0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    append(0xE0 | code_point >> 12);
    append(0x80 | (code_point >> 6 & 0x3F));
  } else {
    append(0xF0 | code_point >> 18);
    append(0x80 | (code_point >> 12 & 0x3F));
    append(0x80 | (code_point >> 6 & 0x3F));
  }
  append(0x80 | (code_point & 0x3F));
}

std::string Quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  std::size_t at = 0;
  while (at < text.size() && at < kLongestQuote) {
    const std::size_t length = Utf8CharacterLength(text.substr(at));
    const auto byte = static_cast<std::uint8_t>(text[at]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      ++at;
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out += at < text.size() ? "\"…" : "\"";
}

}  // namespace keepsake::json
