#include "json/strings.h"

#include <algorithm>
#include <cstddef>

#include "json/json.h"

namespace keepsake::json {
namespace {

// Behind the string that begins at `begin`, or the end of the text.
std::size_t EndOfString(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin + 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

bool IsKey(std::string_view text, std::size_t end) {
  const std::size_t next = text.find_first_not_of(" \t\r\n", end);
  return next != std::string_view::npos && text[next] == ':';
}

}  // namespace

bool StringReader::Next() {
  begin_ = text_.find('"', end_);
  if (begin_ == std::string_view::npos) return false;
  end_ = EndOfString(text_, begin_);
  return true;
}

bool StringReader::is_name() const { return IsKey(text_, end_); }

std::vector<std::string> StringsIn(std::string_view value) {
  std::vector<std::string> strings;
  for (StringReader reader(value); reader.Next();) {
    if (!reader.is_name()) strings.push_back(UnescapeToUtf8(reader.raw()));
  }
  return strings;
}

std::string WithoutNames(std::string_view value) {
  std::string rest;
  for (std::size_t at = 0; at < value.size();) {
    std::size_t end = at + 1;
    bool is_kept = true;
    if (value[at] == '"') {
      end = EndOfString(value, at);
      is_kept = !IsKey(value, end);
      if (!is_kept) rest += "\"\"";
    } else if (value[at] == 't' || value[at] == 'f' || value[at] == 'n') {
      end = std::min(value.find_first_not_of("truefalsn", at), value.size());
      is_kept = false;
    }
    if (is_kept) rest += value.substr(at, end - at);
    at = end;
  }
  return rest;
}

}  // namespace keepsake::json
