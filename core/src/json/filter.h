// A filter over JSON values, parsed once and matched against many.
//
//   filter    := { field: condition, … }            all must hold
//   condition := { operator: operand, … }           all must hold
//              | filter                             on the members of the field
//              | any other value                    deep equality
//   operator  := $eq $ne $gt $gte $lt $lte $in $nin
//
// A field is a literal key, dots and all. "{}" as a condition asks for an object.
// $gt, $gte, $lt, $lte take a number or a string, and compare number with number and
// string with string (by code point); other pairs do not match. $in and $nin take
// arrays. $ne and $nin match a missing field, everything else does not; what is no
// object has no fields.
#ifndef KEEPSAKE_JSON_FILTER_H_
#define KEEPSAKE_JSON_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/status.h"

namespace keepsake::json {

inline constexpr std::size_t kMaxFilterDepth = 100;
inline constexpr std::size_t kMaxFilterFields = 1000;

class Filter {
 public:
  enum class Operator : std::uint8_t { kEq, kNe, kGt, kGte, kLt, kLte, kIn, kNin, kIsObject };

  // One of the comparisons that must hold, and the names that lead to what it compares.
  // Borrows from the filter.
  struct Test {
    std::vector<std::string_view> path;
    Operator op;
    std::span<const std::string> operands;  // raw; one, but any number of $in and $nin
  };

  // "" is the filter without fields. kInvalidFilter if the text is no JSON object,
  // has an unknown operator, one where a field should be, or a wrong operand.
  static Result<Filter> Parse(std::string_view text);

  bool empty() const { return fields_.empty(); }
  // REQUIRES: `value` is valid JSON.
  bool Matches(std::string_view value) const;
  // All comparisons, for who knows members of values without reading them.
  std::vector<Test> Tests() const;

 private:
  friend class FilterParser;

  struct Comparison {
    Operator op;
    std::vector<std::string> operands;
  };

  struct Field {
    std::string name;
    std::vector<Comparison> comparisons;
    std::vector<Field> members;
  };

  static std::optional<Operator> OperatorNamed(std::string_view name);
  static bool Holds(const Comparison& comparison, std::optional<std::string_view> value);
  static void AddTests(const std::vector<Field>& fields, std::vector<std::string_view>& path,
                       std::vector<Test>& tests);
  static bool AllHold(const std::vector<Field>& fields, std::optional<std::string_view> object);

  std::vector<Field> fields_;
};

}  // namespace keepsake::json

#endif  // KEEPSAKE_JSON_FILTER_H_
