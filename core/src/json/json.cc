#include "json/json.h"

#include <algorithm>
#include <charconv>

#include "json/utf8.h"

namespace keepsake::json {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

const char* SkipSpace(const char* at, const char* end) {
  while (at != end && IsSpace(*at)) ++at;
  return at;
}

// `at` is after the opening quote; the result is after the closing one.
const char* SkipString(const char* at, const char* end) {
  while (at != end && *at != '"') {
    if (*at == '\\' && ++at == end) return end;
    ++at;
  }
  return at == end ? end : at + 1;
}

const char* SkipContainer(const char* at, const char* end) {
  std::size_t depth = 0;
  while (at != end) {
    const char c = *at++;
    if (c == '"') {
      at = SkipString(at, end);
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at;
    }
  }
  return end;
}

const char* SkipScalar(const char* at, const char* end) {
  while (at != end && *at != ',' && *at != ']' && *at != '}' && !IsSpace(*at)) ++at;
  return at;
}

const char* SkipValue(const char* at, const char* end) {
  if (at == end) return end;
  if (*at == '"') return SkipString(at + 1, end);
  if (*at == '{' || *at == '[') return SkipContainer(at, end);
  return SkipScalar(at, end);
}

std::string_view Between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// Where the members or elements of `raw` begin, or its end if it is no such container.
const char* ContentOf(std::string_view raw, char opening) {
  const char* end = raw.data() + raw.size();
  return raw.starts_with(opening) ? SkipSpace(raw.data() + 1, end) : end;
}

// After a member or element: where the next one begins.
const char* SkipSeparator(const char* at, const char* end) {
  at = SkipSpace(at, end);
  return at != end && *at == ',' ? SkipSpace(at + 1, end) : at;
}

std::string_view WithoutQuotes(std::string_view raw) {
  if (raw.starts_with('"')) raw.remove_prefix(1);
  if (raw.ends_with('"')) raw.remove_suffix(1);
  return raw;
}

bool HasEscapes(std::string_view raw) { return raw.find('\\') != raw.npos; }

bool IsHighSurrogate(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLowSurrogate(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

class Unescaper {
 public:
  Unescaper(std::string_view raw, bool replace_lone_surrogates)
      : rest_(WithoutQuotes(raw)), replace_lone_surrogates_(replace_lone_surrogates) {}

  std::string Run() {
    out_.reserve(rest_.size());
    while (!rest_.empty()) {
      const std::size_t plain = std::min(rest_.find('\\'), rest_.size());
      out_ += rest_.substr(0, plain);
      rest_.remove_prefix(plain);
      if (!rest_.empty()) ReadEscape();
    }
    return std::move(out_);
  }

 private:
  void ReadEscape() {
    if (rest_.starts_with("\\u")) return ReadCodePoint();
    const char c = rest_.size() > 1 ? rest_[1] : '\\';
    rest_.remove_prefix(std::min<std::size_t>(2, rest_.size()));
    switch (c) {
      case 'b':
        out_ += '\b';
        break;
      case 'f':
        out_ += '\f';
        break;
      case 'n':
        out_ += '\n';
        break;
      case 'r':
        out_ += '\r';
        break;
      case 't':
        out_ += '\t';
        break;
      default:
        out_ += c;
    }
  }

  void ReadCodePoint() {
    char32_t code_point = ReadUnit();
    if (IsHighSurrogate(code_point) && rest_.starts_with("\\u")) {
      const std::string_view before = rest_;
      const char32_t low = ReadUnit();
      if (IsLowSurrogate(low)) {
        code_point = 0x10000 + ((code_point - 0xD800) << 10) + (low - 0xDC00);
      } else {
        rest_ = before;
      }
    }
    const bool lone = IsHighSurrogate(code_point) || IsLowSurrogate(code_point);
    AppendCodePoint(lone && replace_lone_surrogates_ ? 0xFFFD : code_point, out_);
  }

  // One \uXXXX; what is no hexadecimal digit (in a damaged file) counts as 0.
  char32_t ReadUnit() {
    std::uint32_t unit = 0;
    const std::string_view digits = rest_.substr(2, 4);
    std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
    rest_.remove_prefix(std::min<std::size_t>(6, rest_.size()));
    return unit;
  }

  std::string_view rest_;
  bool replace_lone_surrogates_;
  std::string out_;
};

// The text of a raw string without a copy where it has no escapes.
class StringText {
 public:
  explicit StringText(std::string_view raw) {
    if (HasEscapes(raw)) {
      unescaped_ = Unescape(raw);
      view_ = unescaped_;
    } else {
      view_ = WithoutQuotes(raw);
    }
  }
  StringText(const StringText&) = delete;
  StringText& operator=(const StringText&) = delete;

  std::string_view view() const { return view_; }

 private:
  std::string unescaped_;
  std::string_view view_;
};

bool KeyIs(std::string_view raw_key, std::string_view key) {
  return HasEscapes(raw_key) ? StringText(raw_key).view() == key : WithoutQuotes(raw_key) == key;
}

// Equality is that of many pairs; those still to be compared stand in a list, so
// that depth of values is no depth of calls.
using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

bool ArraysMayBeEqual(std::string_view a, std::string_view b, Pairs& rest) {
  ArrayReader in_a(a);
  ArrayReader in_b(b);
  for (;;) {
    const bool more = in_a.Next();
    if (more != in_b.Next()) return false;
    if (!more) return true;
    rest.emplace_back(in_a.value(), in_b.value());
  }
}

}  // namespace

Kind KindOf(std::string_view raw) {
  switch (raw.empty() ? 'n' : raw.front()) {
    case '{':
      return Kind::kObject;
    case '[':
      return Kind::kArray;
    case '"':
      return Kind::kString;
    case 't':
    case 'f':
      return Kind::kBoolean;
    case 'n':
      return Kind::kNull;
    default:
      return Kind::kNumber;
  }
}

std::string_view Root(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

ObjectReader::ObjectReader(std::string_view raw)
    : at_(ContentOf(raw, '{')), end_(raw.data() + raw.size()) {}

bool ObjectReader::Next() {
  if (at_ == end_ || *at_ != '"') return false;
  const char* key_end = SkipString(at_ + 1, end_);
  key_ = Between(at_, key_end);
  const char* colon = SkipSpace(key_end, end_);
  const char* begin = colon == end_ ? end_ : SkipSpace(colon + 1, end_);
  const char* value_end = SkipValue(begin, end_);
  value_ = Between(begin, value_end);
  at_ = SkipSeparator(value_end, end_);
  return true;
}

ArrayReader::ArrayReader(std::string_view raw)
    : at_(ContentOf(raw, '[')), end_(raw.data() + raw.size()) {}

bool ArrayReader::Next() {
  if (at_ == end_ || *at_ == ']') return false;
  const char* value_end = SkipValue(at_, end_);
  const char* next = SkipSeparator(value_end, end_);
  if (next == at_) return false;  // the '}' of a damaged text
  value_ = Between(at_, value_end);
  at_ = next;
  return true;
}

std::optional<std::string_view> FindMember(std::string_view raw, std::string_view key) {
  std::optional<std::string_view> found;
  ObjectReader members(raw);
  while (members.Next()) {
    if (KeyIs(members.key(), key)) found = members.value();
  }
  return found;
}

std::vector<std::pair<std::string, std::string_view>> SortedMembers(std::string_view raw) {
  std::vector<std::pair<std::string, std::string_view>> members;
  ObjectReader reader(raw);
  while (reader.Next()) members.emplace_back(Unescape(reader.key()), reader.value());
  const auto key = [](const auto& member) -> const std::string& { return member.first; };
  const auto before = [](const auto& a, const auto& b) {
    const int order = a.first.compare(b.first);
    return order != 0 ? order < 0
                      : a.second.data() > b.second.data();  // the last of equal keys stays
  };
  // 4 KB gzip less than std::sort, of members which are few.
  std::make_heap(members.begin(), members.end(), before);
  std::sort_heap(members.begin(), members.end(), before);
  const auto repeated = std::ranges::unique(members, {}, key);
  members.erase(repeated.begin(), repeated.end());
  return members;
}

std::string Unescape(std::string_view raw) { return Unescaper(raw, false).Run(); }

std::string UnescapeToUtf8(std::string_view raw) { return Unescaper(raw, true).Run(); }

bool Equal(std::string_view raw_a, std::string_view raw_b) {
  Pairs pairs = {{raw_a, raw_b}};
  while (!pairs.empty()) {
    const auto [a, b] = pairs.back();
    pairs.pop_back();
    if (a == b) continue;
    const Kind kind = KindOf(a);
    if (kind != KindOf(b)) return false;
    switch (kind) {
      case Kind::kNull:
      case Kind::kBoolean:
        return false;
      case Kind::kNumber:
        if (ToDouble(a) != ToDouble(b)) return false;
        break;
      case Kind::kString:
        if (StringText(a).view() != StringText(b).view()) return false;
        break;
      case Kind::kArray:
        if (!ArraysMayBeEqual(a, b, pairs)) return false;
        break;
      case Kind::kObject: {
        const auto members_a = SortedMembers(a);
        const auto members_b = SortedMembers(b);
        const auto key = [](const auto& member) -> const std::string& { return member.first; };
        if (!std::ranges::equal(members_a, members_b, {}, key, key)) return false;
        for (std::size_t i = 0; i < members_a.size(); ++i) {
          pairs.emplace_back(members_a[i].second, members_b[i].second);
        }
      }
    }
  }
  return true;
}

std::partial_ordering Compare(std::string_view raw_a, std::string_view raw_b) {
  const Kind kind = KindOf(raw_a);
  if (kind != KindOf(raw_b)) return std::partial_ordering::unordered;
  if (kind == Kind::kNumber) return ToDouble(raw_a) <=> ToDouble(raw_b);
  if (kind == Kind::kString) return StringText(raw_a).view() <=> StringText(raw_b).view();
  return std::partial_ordering::unordered;
}

}  // namespace keepsake::json
