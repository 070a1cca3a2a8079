// The strings of a JSON value.
#ifndef KEEPSAKE_JSON_STRINGS_H_
#define KEEPSAKE_JSON_STRINGS_H_

#include <string>
#include <string_view>
#include <vector>

namespace keepsake::json {

// Every string in `value` that is no key, as text, in the order of the value.
std::vector<std::string> StringsIn(std::string_view value);

// `value` without the names of its members, and without true, false and null: {"":"a","":1}.
std::string WithoutNames(std::string_view value);

}  // namespace keepsake::json

#endif  // KEEPSAKE_JSON_STRINGS_H_
