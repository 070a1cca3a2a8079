// What of a value is text where no field is named: its strings, told apart by the names
// under which chats and notes keep them.
#ifndef KEEPSAKE_TEXT_AUTO_FIELDS_H_
#define KEEPSAKE_TEXT_AUTO_FIELDS_H_

#include <string>
#include <string_view>
#include <vector>

namespace keepsake::search {

struct AutoFields {
  std::vector<std::string> texts;  // every string that is none of the rest
  std::string speaker;             // speaker, sender, …
  std::string role;                // user, assistant
  bool is_talk = false;            // one of the two is named, in a list of messages, too
  std::string group;               // session, thread_id, …
  std::vector<std::string> dates;  // date, created_at, …: texts, or days as 2023-05-08
};

// `value` is raw JSON.
AutoFields AutoFieldsOf(std::string_view value);

// Of text and dates: 1700000000 and 1700000000000 are 2023-11-14. "" for what is no time.
std::string DayOfTimestamp(double seconds_or_ms);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_AUTO_FIELDS_H_
