#include "json/path.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "json/json.h"
#include "json/utf8.h"

namespace keepsake::json {
namespace {

bool IsEnclosed(std::string_view token, char opening, char closing) {
  return token.size() >= 2 && token.front() == opening && token.back() == closing;
}

std::string_view Inside(std::string_view token) { return token.substr(1, token.size() - 2); }

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// End of a bracket or brace that opens at `begin`, the closing one included.
std::size_t EndOfGroup(std::string_view path, std::size_t begin, char opening, char closing) {
  std::size_t depth = 1;
  std::size_t at = begin + 1;
  for (; at < path.size() && depth > 0; ++at) {
    if (path[at] == opening) ++depth;
    if (path[at] == closing) --depth;
  }
  return at;
}

// The leading integer, as JavaScript's parseInt() reads it.
std::optional<std::int64_t> LeadingInteger(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::vector<std::string_view> Elements(std::string_view raw) {
  std::vector<std::string_view> elements;
  ArrayReader reader(raw);
  while (reader.Next()) elements.push_back(reader.value());
  return elements;
}

std::optional<std::string_view> ElementAt(std::string_view raw, std::int64_t index) {
  const std::vector<std::string_view> elements = Elements(raw);
  const auto count = static_cast<std::int64_t>(elements.size());
  if (index < 0) index += count;
  if (index < 0 || index >= count) return std::nullopt;
  return elements[static_cast<std::size_t>(index)];
}

bool IsArrayIndex(std::string_view name) {
  if (name.empty() || (name.size() > 1 && name.front() == '0')) return false;
  return name.find_first_not_of("0123456789") == name.npos;
}

// A name leads to a member of an object, or by its number to an element of an array.
std::optional<std::string_view> Child(std::string_view raw, std::string_view name) {
  if (KindOf(raw) == Kind::kObject) return FindMember(raw, name);
  if (KindOf(raw) != Kind::kArray || !IsArrayIndex(name)) return std::nullopt;
  const std::optional<std::int64_t> index = LeadingInteger(name);
  return index ? ElementAt(raw, *index) : std::nullopt;
}

class TextCollector {
 public:
  // False when it gets too much.
  bool Add(std::string_view raw) {
    switch (KindOf(raw)) {
      case Kind::kString:
        return Keep(UnescapeToUtf8(raw));
      case Kind::kNumber:
      case Kind::kBoolean:
        return Keep(std::string(raw));
      default:
        return AddLaidOut(raw);
    }
  }

  bool AddLaidOut(std::string_view raw) {
    std::optional<std::string> text = Pretty(raw, left_);
    return text && Keep(std::move(*text));
  }

  std::vector<std::string> Take() { return std::move(texts_); }

 private:
  bool Keep(std::string text) {
    // A text counts for more than its bytes, so that empty ones count, too.
    constexpr std::size_t kPerText = 32;
    if (text.size() + kPerText > left_) return false;
    left_ -= text.size() + kPerText;
    texts_.push_back(std::move(text));
    return true;
  }

  std::size_t left_ = kMaxTextBytes;
  std::vector<std::string> texts_;
};

// "{a,b.c}": each field of `raw` by plain names; here null counts as a text.
bool AddFields(std::string_view raw, std::string_view fields, TextCollector& texts) {
  while (true) {
    const std::size_t comma = std::min(fields.find(','), fields.size());
    const std::vector<std::string> names = TokenizePath(Trim(fields.substr(0, comma)));
    std::optional<std::string_view> found = raw;
    for (const std::string& name : names) {
      found = Child(*found, name);
      if (!found) break;
    }
    if (!names.empty() && found && !texts.Add(*found)) return false;
    if (comma == fields.size()) return true;
    fields.remove_prefix(comma + 1);
  }
}

// The values to which one step leads from `raw`.
void AppendStep(std::string_view raw, std::string_view token, std::vector<std::string_view>& next) {
  if (IsEnclosed(token, '[', ']')) {
    if (KindOf(raw) != Kind::kArray) return;
    if (Inside(token) == "*") {
      for (const std::string_view element : Elements(raw)) next.push_back(element);
    } else if (const auto index = LeadingInteger(Inside(token))) {
      if (const auto element = ElementAt(raw, *index)) next.push_back(*element);
    }
  } else if (token == "*") {
    for (const std::string_view element : Elements(raw)) next.push_back(element);
    ObjectReader members(raw);
    while (members.Next()) next.push_back(members.value());
  } else if (const auto child = Child(raw, token)) {
    next.push_back(*child);
  }
}

// False when it gets too much. Goes step by step over all values at once, which
// gives the texts in the order of the value.
bool Collect(std::string_view root, const std::vector<std::string>& tokens, TextCollector& texts) {
  if (!tokens.empty() && tokens.front() == "$" && !texts.AddLaidOut(root)) return false;
  std::vector<std::string_view> values = {root};
  for (const std::string& token : tokens) {
    if (IsEnclosed(token, '{', '}')) {
      for (const std::string_view value : values) {
        if (!AddFields(value, Inside(token), texts)) return false;
      }
      return true;
    }
    std::vector<std::string_view> next;
    for (const std::string_view value : values) AppendStep(value, token, next);
    values = std::move(next);
  }
  for (const std::string_view value : values) {
    if (KindOf(value) != Kind::kNull && !texts.Add(value)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> TokenizePath(std::string_view path) {
  std::vector<std::string> tokens;
  std::string name;
  const auto end_name = [&] {
    if (!name.empty()) tokens.push_back(std::move(name));
    name.clear();
  };
  for (std::size_t at = 0; at < path.size();) {
    const char c = path[at];
    if (c == '[' || c == '{') {
      end_name();
      const std::size_t end = EndOfGroup(path, at, c, c == '[' ? ']' : '}');
      tokens.emplace_back(path.substr(at, end - at));
      at = end;
      continue;
    }
    if (c == '.') {
      end_name();
    } else {
      name += c;
    }
    ++at;
  }
  end_name();
  return tokens;
}

Result<std::vector<std::string>> TextsAtPath(std::string_view value, std::string_view path) {
  const std::string_view root = Root(value);
  TextCollector texts;
  const bool whole = path.empty() || path == "$";
  if (whole ? !texts.AddLaidOut(root) : !Collect(root, TokenizePath(path), texts)) {
    return Error(StatusCode::kTooLarge, "texts at path " + Quoted(path) + " exceed 64 MiB");
  }
  return texts.Take();
}

}  // namespace keepsake::json
