// Well-formed UTF-8, and showing text that may not be.
#ifndef KEEPSAKE_JSON_UTF8_H_
#define KEEPSAKE_JSON_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace keepsake::json {

// Bytes of the character at the start of `text`, 0 if it is malformed: overlong,
// cut short, beyond U+10FFFF or a surrogate.
std::size_t Utf8CharacterLength(std::string_view text);

bool IsWellFormedUtf8(std::string_view text);

// Whether `text` holds a surrogate in three bytes, as WTF-8 writes lone ones.
bool HasEncodedSurrogate(std::string_view text);

// Surrogates, which UTF-8 forbids, become three bytes as in WTF-8: distinct, and
// ordered by code point.
void AppendCodePoint(char32_t code_point, std::string& out);

// `text` in quotes for a message: cut to 80 bytes, bytes that do not print escaped.
std::string Quoted(std::string_view text);

}  // namespace keepsake::json

#endif  // KEEPSAKE_JSON_UTF8_H_
