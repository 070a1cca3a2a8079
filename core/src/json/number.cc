#include <charconv>
#include <cstdint>
#include <limits>

#include "json/json.h"

#if !defined(__cpp_lib_to_chars)
// This standard library reads no doubles, and strtod() brings arithmetic of 128 bits with
// it, 7 KB of gzip. Where that is so (wasm) the host reads the number.
extern "C" double keepsake_parse_double(const char* text, std::uint32_t size);
#endif

namespace keepsake::json {
namespace {

#if !defined(__cpp_lib_to_chars)
double ParseDouble(std::string_view text) {
  return keepsake_parse_double(text.data(), static_cast<std::uint32_t>(text.size()));
}
#else
// The power of ten of the first digit that is not 0, exponent included.
double DecimalMagnitude(std::string_view text) {
  double magnitude = 0;
  bool seen_digit = false;
  bool seen_point = false;
  std::size_t at = 0;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      seen_point = true;
    } else if (text[at] >= '0' && text[at] <= '9') {
      seen_digit = seen_digit || text[at] != '0';
      if (seen_digit && !seen_point) ++magnitude;
      if (!seen_digit && seen_point) --magnitude;
    }
  }
  double exponent = 0;
  const bool negative = text.find('-', at) != text.npos;
  for (; at < text.size(); ++at) {
    if (text[at] >= '0' && text[at] <= '9') exponent = exponent * 10 + (text[at] - '0');
  }
  return magnitude + (negative ? -exponent : exponent);
}

double ParseDouble(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc::result_out_of_range) return value;
  if (DecimalMagnitude(text) < 0) return 0;
  const double infinity = std::numeric_limits<double>::infinity();
  return text.starts_with('-') ? -infinity : infinity;
}
#endif

}  // namespace

double ToDouble(std::string_view raw_number) {
  // Most numbers are short integers, which need no exact rounding.
  constexpr std::size_t kExactDigits = 15;
  const bool negative = raw_number.starts_with('-');
  const std::string_view digits = raw_number.substr(negative ? 1 : 0);
  if (digits.size() > kExactDigits) return ParseDouble(raw_number);
  std::int64_t integer = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return ParseDouble(raw_number);
    integer = integer * 10 + (c - '0');
  }
  return static_cast<double>(negative ? -integer : integer);
}

}  // namespace keepsake::json
