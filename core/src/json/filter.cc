#include "json/filter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "json/json.h"
#include "json/utf8.h"

namespace keepsake::json {

class FilterParser {
 public:
  Result<std::vector<Filter::Field>> ParseFields(std::string_view raw, std::size_t depth) {
    std::vector<Filter::Field> fields;
    for (const auto& [name, condition] : SortedMembers(raw)) {
      if (name.starts_with('$')) return std::unexpected(MisplacedOperator(name));
      Result<Filter::Field> field = ParseCondition(name, condition, depth);
      if (!field) return std::unexpected(field.error());
      fields.push_back(std::move(*field));
    }
    return fields;
  }

 private:
  Result<Filter::Field> ParseCondition(const std::string& name, std::string_view condition,
                                       std::size_t depth) {
    if (++fields_ > kMaxFilterFields) {
      return Error(StatusCode::kInvalidFilter, "filter must not have more than 1000 fields");
    }
    Filter::Field field{.name = name, .comparisons = {}, .members = {}};
    if (KindOf(condition) != Kind::kObject) {
      field.comparisons.push_back({Filter::Operator::kEq, {std::string(condition)}});
      return field;
    }
    if (IsOperators(condition)) {
      for (const auto& [op, operand] : SortedMembers(condition)) {
        Result<Filter::Comparison> comparison = ParseComparison(name, op, operand);
        if (!comparison) return std::unexpected(comparison.error());
        field.comparisons.push_back(std::move(*comparison));
      }
      return field;
    }
    if (depth == kMaxFilterDepth) {
      return Error(StatusCode::kInvalidFilter, "filter must not be nested deeper than 100");
    }
    Result<std::vector<Filter::Field>> members = ParseFields(condition, depth + 1);
    if (!members) return std::unexpected(members.error());
    field.members = std::move(*members);
    if (field.members.empty()) field.comparisons.push_back({Filter::Operator::kIsObject, {}});
    return field;
  }

  static bool IsOperators(std::string_view condition) {
    ObjectReader members(condition);
    bool any = false;
    while (members.Next()) {
      any = true;
      if (!Unescape(members.key()).starts_with('$')) return false;
    }
    return any;
  }

  static Status MisplacedOperator(std::string_view name) {
    if (Filter::OperatorNamed(name)) {
      return {StatusCode::kInvalidFilter,
              "filter operator must stand alone below a field, as in "
              "{\"age\": {\"$gt\": 18}}: " +
                  Quoted(name)};
    }
    return {StatusCode::kInvalidFilter,
            "a filter has no " + Quoted(name) +
                ": all of its fields must hold; for one of several values of a field there is "
                "$in, for any other choice a search each"};
  }

  static Result<Filter::Comparison> ParseComparison(std::string_view field, std::string_view name,
                                                    std::string_view operand) {
    const std::optional<Filter::Operator> op = Filter::OperatorNamed(name);
    if (!op) {
      return Error(StatusCode::kInvalidFilter,
                   "unknown filter operator " + Quoted(name) +
                       ": there are $eq, $ne, $gt, $gte, $lt, $lte, $in and $nin");
    }
    const auto needs = [&](std::string_view what) {
      return Error(StatusCode::kInvalidFilter, "filter operator " + std::string(name) + " of " +
                                                   Quoted(field) + " needs " + std::string(what));
    };
    Filter::Comparison comparison{*op, {}};
    if (*op != Filter::Operator::kIn && *op != Filter::Operator::kNin) {
      if (IsOrder(*op) && !HasOrder(KindOf(operand))) return needs("a number or a string");
      comparison.operands.emplace_back(operand);
      return comparison;
    }
    if (KindOf(operand) != Kind::kArray) return needs("an array");
    ArrayReader elements(operand);
    while (elements.Next()) comparison.operands.emplace_back(elements.value());
    return comparison;
  }

  static bool IsOrder(Filter::Operator op) {
    return op == Filter::Operator::kGt || op == Filter::Operator::kGte ||
           op == Filter::Operator::kLt || op == Filter::Operator::kLte;
  }

  static bool HasOrder(Kind kind) { return kind == Kind::kNumber || kind == Kind::kString; }

  std::size_t fields_ = 0;
};

std::optional<Filter::Operator> Filter::OperatorNamed(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Operator>, 8> kOperators = {{
      {"$eq", Operator::kEq},
      {"$ne", Operator::kNe},
      {"$gt", Operator::kGt},
      {"$gte", Operator::kGte},
      {"$lt", Operator::kLt},
      {"$lte", Operator::kLte},
      {"$in", Operator::kIn},
      {"$nin", Operator::kNin},
  }};
  for (const auto& [known, op] : kOperators) {
    if (known == name) return op;
  }
  return std::nullopt;
}

Result<Filter> Filter::Parse(std::string_view text) {
  Filter filter;
  if (text.empty()) return filter;
  if (const Status valid = Validate(text); !valid.ok()) {
    return Error(StatusCode::kInvalidFilter, "filter is " + valid.message());
  }
  const std::string_view raw = Root(text);
  if (KindOf(raw) != Kind::kObject) {
    return Error(StatusCode::kInvalidFilter, "filter must be a JSON object");
  }
  Result<std::vector<Field>> fields = FilterParser().ParseFields(raw, 1);
  if (!fields) return std::unexpected(fields.error());
  filter.fields_ = std::move(*fields);
  return filter;
}

bool Filter::Matches(std::string_view value) const {
  return fields_.empty() || AllHold(fields_, Root(value));
}

std::vector<Filter::Test> Filter::Tests() const {
  std::vector<Test> tests;
  std::vector<std::string_view> path;
  AddTests(fields_, path, tests);
  return tests;
}

void Filter::AddTests(const std::vector<Field>& fields, std::vector<std::string_view>& path,
                      std::vector<Test>& tests) {
  for (const Field& field : fields) {
    path.push_back(field.name);
    for (const Comparison& comparison : field.comparisons) {
      tests.push_back({path, comparison.op, comparison.operands});
    }
    AddTests(field.members, path, tests);
    path.pop_back();
  }
}

bool Filter::AllHold(const std::vector<Field>& fields, std::optional<std::string_view> object) {
  return std::ranges::all_of(fields, [object](const Field& field) {
    const auto value = object ? FindMember(*object, field.name) : std::nullopt;
    const auto holds = [value](const Comparison& comparison) { return Holds(comparison, value); };
    return std::ranges::all_of(field.comparisons, holds) && AllHold(field.members, value);
  });
}

bool Filter::Holds(const Comparison& comparison, std::optional<std::string_view> value) {
  const bool negated = comparison.op == Operator::kNe || comparison.op == Operator::kNin;
  if (!value) return negated;
  if (comparison.op == Operator::kIsObject) return KindOf(*value) == Kind::kObject;

  const auto equals = [value](const std::string& operand) { return Equal(*value, operand); };
  const auto order = [&] { return Compare(*value, comparison.operands.front()); };
  switch (comparison.op) {
    case Operator::kGt:
      return order() > 0;
    case Operator::kGte:
      return order() >= 0;
    case Operator::kLt:
      return order() < 0;
    case Operator::kLte:
      return order() <= 0;
    default:
      return std::ranges::any_of(comparison.operands, equals) != negated;
  }
}

}  // namespace keepsake::json
