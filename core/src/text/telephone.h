// Numbers of telephones, however they are grouped: +49 170 1234567, 0170/1234567,
// (555) 123-4567.
#ifndef KEEPSAKE_TEXT_TELEPHONE_H_
#define KEEPSAKE_TEXT_TELEPHONE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace keepsake::search {

struct Telephone {
  std::string token;  // the same for all spellings of one number: its last digits
  std::size_t end;    // in the text
};
// The number that begins at a digit of the text; what may stand before it, has been read.
std::optional<Telephone> TelephoneAt(std::string_view text, std::size_t begin);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TELEPHONE_H_
