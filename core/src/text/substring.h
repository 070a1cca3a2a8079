// What the mode `contains` looks for: a piece of a text, whatever case and accents are.
#ifndef KEEPSAKE_TEXT_SUBSTRING_H_
#define KEEPSAKE_TEXT_SUBSTRING_H_

#include <string>
#include <string_view>

namespace keepsake::search {

std::string ToLowerAscii(std::string_view text);

class Substring {
 public:
  Substring() = default;
  explicit Substring(std::string_view query);

  // Whether nothing is looked for.
  bool empty() const { return folded_.empty(); }
  bool IsIn(std::string_view text) const;
  // Of JSON as it stands, or as JSON writes it in a string: a quote after a backslash. In a
  // name of a member only with a quote: who types "te" does not mean {"text": …}.
  bool IsInJson(std::string_view json) const;
  // What a text of ASCII alone holds, in small letters, if the piece is in it; and as JSON writes
  // it, "" if that is the same.
  std::string_view folded() const { return folded_; }
  std::string_view escaped() const { return escaped_; }

 private:
  std::string folded_;
  std::string escaped_;  // "" if it is the same
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_SUBSTRING_H_
