// The strings of a JSON value.
#ifndef KEEPSAKE_JSON_STRINGS_H_
#define KEEPSAKE_JSON_STRINGS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace keepsake::json {

// Goes over the strings of a JSON text in their order, the names of members among them.
class StringReader {
 public:
  explicit StringReader(std::string_view text) : text_(text) {}
  bool Next();
  std::size_t begin() const { return begin_; }  // where raw() begins in the text
  std::string_view raw() const { return text_.substr(begin_, end_ - begin_); }
  bool is_name() const;

 private:
  std::string_view text_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Every string in `value` that is no key, as text, in the order of the value.
std::vector<std::string> StringsIn(std::string_view value);

// `value` without the names of its members, and without true, false and null: {"":"a","":1}.
std::string WithoutNames(std::string_view value);

}  // namespace keepsake::json

#endif  // KEEPSAKE_JSON_STRINGS_H_
