#include <bit>
#include <bitset>
#include <cstring>

#include "json/json.h"
#include "json/utf8.h"

namespace keepsake::json {
namespace {

constexpr std::uint64_t EachByte(std::uint8_t byte) { return 0x0101010101010101u * byte; }

// Marks bytes of `word` that end a run of plain characters in a string: a quote, a
// backslash, a control character, or one beyond ASCII. Marks above the lowest may
// be false, by the borrow of the subtractions.
std::uint64_t MarkSpecialBytes(std::uint64_t word) {
  const auto zero_bytes = [](std::uint64_t w) { return (w - EachByte(0x01)) & ~w; };
  const std::uint64_t control = (word - EachByte(0x20)) & ~word;
  return (word | control | zero_bytes(word ^ EachByte('"')) | zero_bytes(word ^ EachByte('\\'))) &
         EachByte(0x80);
}

bool IsSpecial(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return byte < 0x20 || byte >= 0x80 || c == '"' || c == '\\';
}

const char* SkipPlainCharacters(const char* at, const char* end) {
  if constexpr (std::endian::native == std::endian::little) {
    for (; end - at >= 8; at += 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      if (const std::uint64_t marks = MarkSpecialBytes(word)) {
        return at + std::countr_zero(marks) / 8;
      }
    }
  }
  while (at != end && !IsSpecial(*at)) ++at;
  return at;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Reads value after value; open containers are kept as bits, so that the depth of
// the text is no depth of calls.
class Validator {
 public:
  explicit Validator(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  Status Run() {
    bool valid;
    do {
      wants_value_ = false;
      valid = ReadScalarOrOpening();
      while (valid && !wants_value_ && depth_ > 0) valid = ReadSeparatorOrClosing();
    } while (valid && wants_value_);
    if (valid) {
      SkipSpace();
      valid = at_ == end_;
    }
    return valid ? Status() : Failure();
  }

 private:
  Status Failure() const {
    if (problem_ == nullptr) {
      return {StatusCode::kInvalidValue,
              at_ == end_ ? "not JSON: unexpected end" : Located("unexpected character")};
    }
    return {StatusCode::kInvalidValue, Located(problem_)};
  }

  std::string Located(const char* problem) const {
    return "not JSON: " + std::string(problem) + " at byte " + std::to_string(at_ - begin_);
  }

  bool Fail(const char* problem) {
    problem_ = problem;
    return false;
  }

  void SkipSpace() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  bool Accept(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  bool ReadScalarOrOpening() {
    SkipSpace();
    if (at_ == end_) return false;
    switch (*at_) {
      case '{':
        return Open(true);
      case '[':
        return Open(false);
      case '"':
        ++at_;
        return ReadString();
      case 't':
        return ReadLiteral("true");
      case 'f':
        return ReadLiteral("false");
      case 'n':
        return ReadLiteral("null");
      default:
        return ReadNumber();
    }
  }

  bool Open(bool object) {
    if (depth_ == kMaxDepth) return Fail("nested deeper than 1000");
    ++at_;
    is_object_[depth_++] = object;
    SkipSpace();
    if (Accept(object ? '}' : ']')) {
      --depth_;
      return true;
    }
    wants_value_ = true;
    return !object || ReadKey();
  }

  bool ReadSeparatorOrClosing() {
    SkipSpace();
    const bool object = is_object_[depth_ - 1];
    if (Accept(',')) {
      wants_value_ = true;
      return !object || ReadKey();
    }
    if (!Accept(object ? '}' : ']')) return false;
    --depth_;
    return true;
  }

  bool ReadKey() {
    SkipSpace();
    if (!Accept('"') || !ReadString()) return false;
    SkipSpace();
    return Accept(':');
  }

  bool ReadString() {
    for (;;) {
      at_ = SkipPlainCharacters(at_, end_);
      if (at_ == end_) return false;
      if (*at_ == '"') {
        ++at_;
        return true;
      }
      if (*at_ == '\\') {
        if (!ReadEscape()) return false;
      } else if (static_cast<std::uint8_t>(*at_) < 0x20) {
        return Fail("control character in a string");
      } else if (!ReadNonAscii()) {
        return Fail("malformed UTF-8");
      }
    }
  }

  // Text in other scripts is one such character after the other.
  bool ReadNonAscii() {
    while (at_ != end_ && static_cast<std::uint8_t>(*at_) >= 0x80) {
      const auto left = static_cast<std::size_t>(end_ - at_);
      const std::size_t length = Utf8CharacterLength({at_, left});
      if (length == 0) return false;
      at_ += length;
    }
    return true;
  }

  bool ReadEscape() {
    ++at_;
    if (at_ == end_) return false;
    switch (*at_) {
      case '"':
      case '\\':
      case '/':
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        ++at_;
        return true;
      case 'u':
        ++at_;
        for (int i = 0; i < 4; ++i, ++at_) {
          if (at_ == end_ || !IsHexDigit(*at_)) return false;
        }
        return true;
      default:
        return false;
    }
  }

  bool ReadLiteral(std::string_view literal) {
    for (const char c : literal) {
      if (!Accept(c)) return false;
    }
    return true;
  }

  bool ReadDigits() {
    if (at_ == end_ || !IsDigit(*at_)) return false;
    while (at_ != end_ && IsDigit(*at_)) ++at_;
    return true;
  }

  bool ReadNumber() {
    Accept('-');
    if (!Accept('0') && !ReadDigits()) return false;
    if (Accept('.') && !ReadDigits()) return false;
    if (Accept('e') || Accept('E')) {
      if (!Accept('+')) Accept('-');
      return ReadDigits();
    }
    return true;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* problem_ = nullptr;
  bool wants_value_ = false;
  std::size_t depth_ = 0;
  std::bitset<kMaxDepth> is_object_;
};

}  // namespace

Status Validate(std::string_view text) { return Validator(text).Run(); }

}  // namespace keepsake::json
