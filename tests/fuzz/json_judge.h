// nlohmann::json judges core/src/json: what is JSON, what its parts are, paths, comparison and
// filters, evaluated once more over the library's trees. Where the rules differ:
//
//   depth                      ours refuses more than 1,000 levels
//   byte order mark            theirs skips one at the start
//   NUL                        theirs ends there
//   lone surrogate (\uD800)    theirs refuses it
//   number beyond doubles      theirs refuses it
//   integers beyond 2^53       theirs are exact; compared here as doubles, as ours are
//   repeated keys              both take the last one; "*" of ours goes over all
#ifndef KEEPSAKE_TESTS_FUZZ_JSON_JUDGE_H_
#define KEEPSAKE_TESTS_FUZZ_JSON_JUDGE_H_

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/filter.h"
#include "json/json.h"
#include "json/path.h"
#include "json_generator.h"

namespace keepsake::fuzz {

using Tree = nlohmann::json;

inline void MakeNumbersDoubles(Tree& tree) {
  if (tree.is_number()) tree = tree.get<double>();
  if (!tree.is_structured()) return;
  for (Tree& part : tree) MakeNumbersDoubles(part);
}

inline std::optional<Tree> ParseTree(std::string_view text) {
  Tree tree = Tree::parse(text, nullptr, /*allow_exceptions=*/false);
  if (tree.is_discarded()) return std::nullopt;
  MakeNumbersDoubles(tree);
  return tree;
}

// --- What is JSON

// "\uD…" becomes "\u0…": as valid as before, and no surrogate.
inline std::string WithoutSurrogates(std::string text) {
  for (std::size_t at = 0; (at = text.find("\\u", at)) != text.npos; at += 2) {
    if (at + 2 < text.size() && (text[at + 2] | 0x20) == 'd') text[at + 2] = '0';
  }
  return text;
}

inline bool HasNumberBeyondDoubles(std::string_view text) {
  constexpr int kNumberOverflow = 406;
  try {
    return Tree::parse(text).is_discarded();
  } catch (const Tree::exception& error) {
    return error.id == kNumberOverflow;
  }
}

inline std::string JudgeValidity(const std::string& text) {
  const Status ours = json::Validate(text);
  const bool theirs = Tree::accept(text);
  if (ours.ok() == theirs) return "";
  const bool has_nul = text.find('\0') != text.npos;
  if (theirs && (has_nul || text.starts_with("\xEF\xBB\xBF"))) return "";
  if (theirs && ours.message().find("nested deeper than 1000") != std::string::npos) return "";
  if (!theirs && HasNumberBeyondDoubles(text)) return "";
  if (!theirs) {
    const std::string plain = WithoutSurrogates(text);
    if (plain != text) return JudgeValidity(plain);
  }
  return "validity of " + text + ": " + (ours.ok() ? "only ours takes it" : ours.message());
}

// --- Its parts

inline bool ReadsAs(std::string_view raw, const Tree& tree);

inline bool ReadsAsArray(std::string_view raw, const Tree& tree) {
  json::ArrayReader elements(raw);
  return std::ranges::all_of(tree,
                             [&](const Tree& part) {
                               return elements.Next() && ReadsAs(elements.value(), part);
                             }) &&
         !elements.Next();
}

inline bool ReadsAsObject(std::string_view raw, const Tree& tree) {
  const auto members = json::SortedMembers(raw);
  if (members.size() != tree.size()) return false;
  return std::ranges::all_of(members, [&](const auto& member) {
    const auto found = tree.find(member.first);
    return found != tree.end() && ReadsAs(member.second, *found) &&
           json::FindMember(raw, member.first) == member.second;
  });
}

inline bool ReadsAs(std::string_view raw, const Tree& tree) {
  switch (json::KindOf(raw)) {
    case json::Kind::kNull:
      return tree.is_null();
    case json::Kind::kBoolean:
      return tree.is_boolean() && tree.get<bool>() == (raw == "true");
    case json::Kind::kNumber:
      return tree.is_number() && tree.get<double>() == json::ToDouble(raw);
    case json::Kind::kString:
      return tree.is_string() && tree.get<std::string>() == json::Unescape(raw);
    case json::Kind::kArray:
      return tree.is_array() && ReadsAsArray(raw, tree);
    case json::Kind::kObject:
      return tree.is_object() && ReadsAsObject(raw, tree);
  }
  return false;
}

// Any text at all.
inline std::string JudgeText(const std::string& text) {
  if (std::string difference = JudgeValidity(text); !difference.empty()) return difference;
  if (!json::Validate(text).ok()) return "";
  const std::optional<Tree> tree = ParseTree(text);
  if (!tree || ReadsAs(json::Root(text), *tree)) return "";
  return "reading " + text + ": theirs is " + tree->dump();
}

// --- Comparison

inline bool AreOrdered(const Tree& a, const Tree& b) {
  return (a.is_number() && b.is_number()) || (a.is_string() && b.is_string());
}

inline std::string JudgeComparison(const std::string& a, const std::string& b) {
  const std::optional<Tree> tree_a = ParseTree(a), tree_b = ParseTree(b);
  if (!tree_a || !tree_b) return "";
  const std::string both = a + " and " + b;
  if (json::Equal(a, b) != (*tree_a == *tree_b)) return "equality of " + both;
  const std::partial_ordering order = json::Compare(a, b);
  const bool ordered = AreOrdered(*tree_a, *tree_b);
  if ((order < 0) != (ordered && *tree_a < *tree_b)) return "less of " + both;
  if ((order > 0) != (ordered && *tree_b < *tree_a)) return "greater of " + both;
  return (order == 0) == (ordered && *tree_a == *tree_b) ? "" : "the same of " + both;
}

// --- Paths

inline std::string TextOf(const Path& path) {
  std::string text;
  const auto add_name = [&](const std::string& name) { text += (text.empty() ? "" : ".") + name; };
  for (const PathStep& step : path.steps) {
    switch (step.kind) {
      case PathStep::Kind::kName:
        add_name(step.name);
        break;
      case PathStep::Kind::kIndex:
        text += "[" + std::to_string(step.index) + "]";
        break;
      case PathStep::Kind::kEveryElement:
        text += "[*]";
        break;
      case PathStep::Kind::kEverything:
        add_name("*");
    }
  }
  std::string fields;
  for (const std::vector<std::string>& names : path.fields) {
    fields += (fields.empty() ? "" : ", ") + names.front();
    if (names.size() > 1) fields += "." + names.back();
  }
  return fields.empty() ? text : text + "{" + fields + "}";
}

// A member, or an element by its number; null for none.
inline const Tree* ChildOf(const Tree* tree, const std::string& name) {
  if (tree->is_object()) return tree->contains(name) ? &tree->at(name) : nullptr;
  const bool is_index = name == "0" || name == "1";
  if (!tree->is_array() || !is_index) return nullptr;
  const auto index = static_cast<std::size_t>(name[0] - '0');
  return index < tree->size() ? &tree->at(index) : nullptr;
}

inline void AddStep(const Tree* tree, const PathStep& step, std::vector<const Tree*>& next) {
  const auto size = static_cast<int>(tree->size());
  const int index = step.index < 0 ? step.index + size : step.index;
  switch (step.kind) {
    case PathStep::Kind::kName:
      if (const Tree* child = ChildOf(tree, step.name)) next.push_back(child);
      break;
    case PathStep::Kind::kIndex:
      if (tree->is_array() && index >= 0 && index < size) {
        next.push_back(&tree->at(static_cast<std::size_t>(index)));
      }
      break;
    case PathStep::Kind::kEveryElement:
      if (!tree->is_array()) break;
      [[fallthrough]];
    case PathStep::Kind::kEverything:
      if (!tree->is_structured()) break;
      for (const Tree& part : *tree) next.push_back(&part);
  }
}

inline std::vector<const Tree*> TreesAt(const Tree& root, const Path& path) {
  std::vector<const Tree*> trees = {&root};
  for (const PathStep& step : path.steps) {
    std::vector<const Tree*> next;
    for (const Tree* tree : trees) AddStep(tree, step, next);
    trees = std::move(next);
  }
  if (path.fields.empty()) {
    std::erase_if(trees, [](const Tree* tree) { return tree->is_null(); });
    return trees;
  }
  std::vector<const Tree*> fields;
  for (const Tree* tree : trees) {
    for (const std::vector<std::string>& names : path.fields) {
      const Tree* field = tree;
      for (const std::string& name : names) field = field ? ChildOf(field, name) : nullptr;
      if (field != nullptr) fields.push_back(field);
    }
  }
  return fields;
}

// What TextsAtPath() makes of a value; a number stays as it was written.
inline bool IsTextOf(const std::string& text, const Tree& tree) {
  return tree.is_string() ? text == tree.get<std::string>() : ParseTree(text) == tree;
}

// Trees have lost the order in which "*" goes over an object.
inline bool AreTextsOf(std::vector<std::string> texts, std::vector<const Tree*> trees) {
  // A number may be written like a string: strings choose first.
  std::ranges::partition(trees, [](const Tree* tree) { return tree->is_string(); });
  for (const Tree* tree : trees) {
    const auto is_text = [tree](const std::string& text) { return IsTextOf(text, *tree); };
    const auto text = std::ranges::find_if(texts, is_text);
    if (text == texts.end()) return false;
    texts.erase(text);
  }
  return texts.empty();
}

inline bool HasRepeatedKeys(std::string_view raw) {
  json::ObjectReader members(raw);
  std::size_t count = 0;
  for (; members.Next(); ++count) {
    if (HasRepeatedKeys(members.value())) return true;
  }
  json::ArrayReader elements(raw);
  while (elements.Next()) {
    if (HasRepeatedKeys(elements.value())) return true;
  }
  return count != json::SortedMembers(raw).size();
}

inline std::string JudgePath(const std::string& value, const Path& path) {
  const std::optional<Tree> root = ParseTree(value);
  if (!root) return "";
  const std::string path_text = TextOf(path);
  const Result<std::vector<std::string>> texts = json::TextsAtPath(value, path_text);
  if (!texts) return "path " + path_text + ": " + texts.error().message();
  const auto goes_over_all = [](const PathStep& step) {
    return step.kind == PathStep::Kind::kEverything;
  };
  bool alike;
  if (path_text.empty()) {
    alike = texts->size() == 1 && ParseTree(texts->front()) == root;
  } else if (std::ranges::none_of(path.steps, goes_over_all)) {
    alike = std::ranges::equal(*texts, TreesAt(*root, path),
                               [](const auto& text, auto* tree) { return IsTextOf(text, *tree); });
  } else {
    alike = HasRepeatedKeys(json::Root(value)) || AreTextsOf(*texts, TreesAt(*root, path));
  }
  return alike ? "" : "path " + path_text + " of " + value;
}

// --- Filters

class FilterJudge {
 public:
  // nullopt for what is no filter.
  static std::optional<bool> Matches(const Tree& filter, const Tree& value) {
    if (!IsFilter(filter)) return std::nullopt;
    return AllHold(filter, &value);
  }

 private:
  static bool IsOperators(const Tree& condition) {
    return condition.is_object() && !condition.empty() &&
           std::ranges::all_of(condition.items(),
                               [](const auto& item) { return item.key().starts_with('$'); });
  }

  static bool IsFilter(const Tree& filter) {
    return filter.is_object() && std::ranges::all_of(filter.items(), [](const auto& item) {
             if (item.key().starts_with('$')) return false;
             if (!item.value().is_object()) return true;
             return IsOperators(item.value()) ? AreOperators(item.value()) : IsFilter(item.value());
           });
  }

  static bool AreOperators(const Tree& operators) {
    return std::ranges::all_of(operators.items(), [](const auto& item) {
      constexpr std::string_view kOrders[] = {"$gt", "$gte", "$lt", "$lte"};
      if (item.key() == "$in" || item.key() == "$nin") return item.value().is_array();
      if (std::ranges::find(kOrders, item.key()) != std::end(kOrders)) {
        return item.value().is_number() || item.value().is_string();
      }
      return item.key() == "$eq" || item.key() == "$ne";
    });
  }

  static bool AllHold(const Tree& filter, const Tree* value) {
    return std::ranges::all_of(filter.items(), [value](const auto& item) {
      const bool has = value != nullptr && value->is_object() && value->contains(item.key());
      return ConditionHolds(item.value(), has ? &value->at(item.key()) : nullptr);
    });
  }

  static bool ConditionHolds(const Tree& condition, const Tree* member) {
    if (!condition.is_object()) return member != nullptr && *member == condition;
    if (condition.empty()) return member != nullptr && member->is_object();
    if (!IsOperators(condition)) return AllHold(condition, member);
    return std::ranges::all_of(condition.items(), [member](const auto& item) {
      return OperatorHolds(item.key(), item.value(), member);
    });
  }

  static bool OperatorHolds(const std::string& name, const Tree& operand, const Tree* member) {
    if (member == nullptr) return name == "$ne" || name == "$nin";
    if (name == "$eq") return *member == operand;
    if (name == "$ne") return *member != operand;
    if (name == "$in") return std::ranges::find(operand, *member) != operand.end();
    if (name == "$nin") return std::ranges::find(operand, *member) == operand.end();
    if (!AreOrdered(*member, operand)) return false;
    if (name == "$gt") return *member > operand;
    if (name == "$gte") return *member >= operand;
    return name == "$lt" ? *member < operand : *member <= operand;
  }
};

inline std::string JudgeFilter(const std::string& filter, const std::string& value) {
  const std::optional<Tree> filter_tree = ParseTree(filter), tree = ParseTree(value);
  if (!filter_tree || !tree) return "";
  const Result<json::Filter> parsed = json::Filter::Parse(filter);
  const std::optional<bool> theirs = FilterJudge::Matches(*filter_tree, *tree);
  std::optional<bool> ours;
  if (parsed) ours = parsed->Matches(value);
  if (ours == theirs) return "";
  const auto told = [](std::optional<bool> matches) {
    return !matches ? "no filter" : *matches ? "a match" : "no match";
  };
  return "filter " + filter + " over " + value + ": ours " + told(ours) + ", theirs " +
         told(theirs);
}

// The entry: how ours and theirs differ on this input, or "".
inline std::string RunJson(ByteView input) {
  ByteSource source(input);
  if (source.Chance(2)) {
    const ByteView text = source.Rest();
    return JudgeText({text.begin(), text.end()});
  }
  JsonGenerator generator(source);
  std::string difference;
  while (!source.empty() && difference.empty()) {
    const std::string value = generator.Value(), other = generator.Value();
    const std::string document = generator.Document();
    difference = JudgeText(value);
    if (difference.empty()) difference = JudgeText(generator.Damaged(document));
    if (difference.empty()) difference = JudgeComparison(value, other);
    if (difference.empty()) difference = JudgePath(document, generator.AnyPath());
    if (difference.empty()) difference = JudgeFilter(generator.Filter(), document);
  }
  return difference;
}

}  // namespace keepsake::fuzz

#endif  // KEEPSAKE_TESTS_FUZZ_JSON_JUDGE_H_
