#include "text/auto_fields.h"

#include <cstdint>
#include <utility>

#include "json/json.h"
#include "json/strings.h"
#include "text/dates.h"
#include "text/substring.h"

namespace keepsake::search {
namespace {

// Each between two spaces, without _ and in small letters.
constexpr std::string_view kSpeakers = " speaker sender from ";
constexpr std::string_view kRoles = " role ";
constexpr std::string_view kGroups =
    " session sessionid thread threadid conversation conversationid chatid ";
constexpr std::string_view kDates =
    " date datetime time timestamp day when created createdat updatedat sentat ";

bool IsOneOf(std::string_view names, const std::string& name) {
  return names.contains(' ' + name + ' ');
}

std::string PlainName(std::string_view raw_key) {
  std::string name = ToLowerAscii(json::Unescape(raw_key));
  std::erase_if(name, [](char c) { return c == '_' || c == '-'; });
  return name;
}

class Reader {
 public:
  AutoFields Take() { return std::move(fields_); }

  // Below so many levels a string is text, whatever its name: each level is scanned again.
  static constexpr int kMaxLevels = 16;

  void Read(std::string_view raw, const std::string& name, bool is_in_list, int level = 0) {
    if (level == kMaxLevels) {
      for (std::string& text : json::StringsIn(raw)) fields_.texts.push_back(std::move(text));
      return;
    }
    switch (json::KindOf(raw)) {
      case json::Kind::kString:
        return ReadText(json::UnescapeToUtf8(raw), name, is_in_list);
      case json::Kind::kNumber:
        return ReadNumber(raw, name);
      case json::Kind::kArray:
        for (json::ArrayReader array(raw); array.Next();)
          Read(array.value(), name, true, level + 1);
        return;
      case json::Kind::kObject:
        for (json::ObjectReader object(raw); object.Next();) {
          Read(object.value(), PlainName(object.key()), is_in_list, level + 1);
        }
        return;
      case json::Kind::kNull:
      case json::Kind::kBoolean:
        return;
    }
  }

 private:
  // Who speaks in one message of a list says nothing of the others.
  void ReadText(std::string text, const std::string& name, bool is_in_list) {
    fields_.is_talk |= IsOneOf(kRoles, name) || IsOneOf(kSpeakers, name);
    if (IsOneOf(kRoles, name)) {
      if (!is_in_list) fields_.role = std::move(text);
    } else if (IsOneOf(kDates, name)) {
      fields_.dates.push_back(std::move(text));
    } else if (!is_in_list && IsOneOf(kGroups, name)) {
      fields_.group = std::move(text);
    } else {
      if (!is_in_list && IsOneOf(kSpeakers, name)) fields_.speaker = text;
      fields_.texts.push_back(std::move(text));
    }
  }

  void ReadNumber(std::string_view raw, const std::string& name) {
    if (IsOneOf(kGroups, name)) fields_.group = raw;
    if (!IsOneOf(kDates, name)) return;
    if (std::string day = DayOfTimestamp(json::ToDouble(raw)); !day.empty()) {
      fields_.dates.push_back(std::move(day));
    }
  }

  AutoFields fields_;
};

}  // namespace

AutoFields AutoFieldsOf(std::string_view value) {
  Reader reader;
  reader.Read(json::Root(value), "", false);
  return reader.Take();
}

std::string DayOfTimestamp(double seconds_or_ms) {
  constexpr double kFirst = 1e8, kFirstMs = 1e11, kEndMs = 1e13;
  if (!(seconds_or_ms >= kFirst && seconds_or_ms < kEndMs)) return "";
  const double seconds = seconds_or_ms < kFirstMs ? seconds_or_ms : seconds_or_ms / 1000;
  return NameOfDay(static_cast<std::int64_t>(seconds / 86400)).substr(1);
}

}  // namespace keepsake::search
