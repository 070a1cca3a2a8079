// The order of reading is that of js/src/store/secret-finder.ts, which finds the same ones.
#include "keepsake/secrets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "json/json.h"
#include "json/strings.h"
#include "json/utf8.h"

namespace keepsake {
namespace {

// --- The table ---

// What the part of a form that varies must hold, so that it is no text of somebody.
enum class Needs : std::uint8_t {
  kDigit,
  kMixed,  // a small and a capital letter, too
  kNothing,
};

struct Row {
  std::string_view name;
  std::string_view form;
  Needs needs;
};

#include "json/secret_kinds.inc"

constexpr std::string_view kPrivateKey = "private key";
constexpr std::string_view kSecretKey = "secret key";  // of what only its name says
constexpr std::string_view kCardNumber = "card number";

// Where the rows of each first character are, in their order.
struct Index {
  std::array<std::uint8_t, 129> begin{};
  std::array<std::uint8_t, 2 * std::size(kRows)> row{};
};
static_assert(std::size(kRows) < 200);

constexpr bool BeginsWith(const Row& row, char c) {
  return row.form[0] == '[' ? c >= '0' && c <= '9' : row.form[0] == c;
}

constexpr Index kIndex = [] {
  Index index;
  std::uint8_t count = 0;
  for (std::size_t c = 0; c < 128; ++c) {
    index.begin[c] = count;
    for (std::size_t row = 0; row < std::size(kRows); ++row) {
      if (BeginsWith(kRows[row], static_cast<char>(c))) {
        index.row[count++] = static_cast<std::uint8_t>(row);
      }
    }
  }
  index.begin[128] = count;
  return index;
}();

// --- Characters ---

using Set = std::array<bool, 256>;

// "A-Za-z_-": a dash at the end is one.
constexpr Set SetOf(std::string_view chars) {
  Set set{};
  for (std::size_t i = 0; i < chars.size(); ++i) {
    const bool is_range = i + 2 < chars.size() && chars[i + 1] == '-';
    const auto from = static_cast<unsigned char>(chars[i]);
    const auto to = static_cast<unsigned char>(chars[is_range ? i + 2 : i]);
    for (std::size_t c = from; c <= to; ++c) set[c] = true;
    if (is_range) i += 2;
  }
  return set;
}

constexpr Set kWord = SetOf("A-Za-z0-9_");
constexpr Set kName = SetOf("A-Za-z0-9_-");
constexpr Set kDigit = SetOf("0-9");
constexpr Set kCapital = SetOf("A-Z");
constexpr Set kBase64 = SetOf("A-Za-z0-9+/=");
constexpr Set kAssigned = SetOf("A-Za-z0-9_+/.~-");
constexpr Set kBlank = SetOf(" \t'\"");
constexpr std::size_t kLongestRun = 4000;

bool IsIn(const Set& set, std::string_view text, std::size_t at) {
  return at < text.size() && set[static_cast<unsigned char>(text[at])];
}

// The character at a place; NUL, which is in no set, where there is none.
char At(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : '\0'; }

bool HasAt(std::string_view text, std::size_t at, std::string_view part) {
  return at <= text.size() && text.substr(at).starts_with(part);
}

std::size_t EndOfRun(std::string_view text, std::size_t from, const Set& set, std::size_t most) {
  std::size_t at = from;
  while (at - from < most && IsIn(set, text, at)) ++at;
  return at;
}

std::string Small(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return small;
}

bool IsOneOf(std::span<const std::string_view> list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

// --- Forms ---

struct Span {
  std::size_t begin;
  std::size_t end;
};

// What examples have in its place is none.
bool IsSecret(std::string_view text, Needs needs) {
  const auto has = [&](std::string_view chars) {
    const Set set = SetOf(chars);
    return std::ranges::any_of(text, [&](char c) { return set[static_cast<unsigned char>(c)]; });
  };
  Set seen{};
  for (const char c : text) seen[static_cast<unsigned char>(c)] = true;
  const auto distinct = static_cast<std::size_t>(std::ranges::count(seen, true));
  if (distinct < 8 && 2 * distinct < text.size()) return false;
  if (needs != Needs::kNothing && !has("0-9")) return false;
  if (needs == Needs::kMixed && !(has("A-Z") && has("a-z"))) return false;
  const std::string small = Small(text);
  return !IsOneOf(kPasswords, small) &&
         std::ranges::none_of(kPlaceholders,
                              [&](std::string_view word) { return small.contains(word); });
}

// "[A-Za-z0-9]{32,64}" of a form.
struct Run {
  Set set;
  std::size_t least = 0;
  std::size_t most = 0;
  bool is_exact = true;
};

Run TakeRun(std::string_view& form) {
  const std::size_t end = form.find("]{");
  Run run{.set = SetOf(form.substr(1, end - 1))};
  form.remove_prefix(end + 2);
  std::size_t* number = &run.least;
  for (; form[0] != '}'; form.remove_prefix(1)) {
    if (form[0] == ',') {
      run.is_exact = false;
      number = &run.most;
    } else {
      *number = *number * 10 + static_cast<std::size_t>(form[0] - '0');
    }
  }
  form.remove_prefix(1);
  if (run.is_exact) run.most = run.least;
  return run;
}

// A run is never read shorter than it is, so that no text is read again and again.
std::optional<Span> MatchForm(const Row& row, std::string_view text, std::size_t from) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t at = from;
  Span found{from, kNone};
  std::size_t varied = kNone;
  Set last = kWord;
  for (std::string_view form = row.form; !form.empty();) {
    if (form[0] == '[') {
      const Run run = TakeRun(form);
      const std::size_t begin = at;
      at = EndOfRun(text, at, run.set, run.most);
      if (at - begin < run.least || (!run.is_exact && IsIn(run.set, text, at))) {
        return std::nullopt;
      }
      varied = std::min(varied, begin);
      last = run.set;
      continue;
    }
    if (form[0] == '<') {
      found.begin = at;
    } else if (form[0] == '>') {
      found.end = at;
    } else if (At(text, at++) != form[0]) {
      return std::nullopt;
    }
    form.remove_prefix(1);
  }
  if (found.end == kNone) {
    if (IsIn(last, text, at) || IsIn(kWord, text, at)) return std::nullopt;
    // The end of the sentence.
    for (found.end = at; text[found.end - 1] == '.';) --found.end;
  }
  const std::size_t begin = std::max(found.begin, varied);
  if (!IsSecret(text.substr(begin, found.end - begin), row.needs)) return std::nullopt;
  return found;
}

// --- A block of PEM ---

// Behind "-----BEGIN RSA PRIVATE KEY-----", or 0.
std::size_t EndOfKeyLine(std::string_view text, std::size_t at, std::string_view beginning) {
  if (!HasAt(text, at, beginning)) return 0;
  static constexpr Set kOfName = SetOf("A-Z0-9 ");
  const std::size_t from = at + beginning.size();
  const std::size_t end = EndOfRun(text, from, kOfName, 85);
  const std::string_view name = text.substr(from, end - from);
  const bool is_key = name.ends_with("PRIVATE KEY") || name.ends_with("PRIVATE KEY BLOCK");
  return is_key && HasAt(text, end, "-----") ? end + 5 : 0;
}

// As a whole. The line that it begins with is none, whatever comes behind it.
std::optional<Span> FindPrivateKey(std::string_view text, std::size_t at) {
  constexpr std::size_t kLeastBody = 40;
  const std::size_t body = EndOfKeyLine(text, at, "-----BEGIN ");
  if (body == 0) return std::nullopt;
  const std::size_t dashes = text.find("-----", body);
  if (dashes == std::string_view::npos) return std::nullopt;
  const std::size_t end = EndOfKeyLine(text, dashes, "-----END ");
  if (end == 0) return std::nullopt;
  std::size_t longest = 0;
  for (std::size_t from = body; from < dashes;) {
    const std::size_t run_end = EndOfRun(text, from, kBase64, dashes - from);
    longest = std::max(longest, run_end - from);
    from = run_end + 1;
  }
  if (longest < kLeastBody) return std::nullopt;
  return Span{at, end};
}

// --- What a name says of a value ---

bool IsKeyName(std::string_view name) {
  std::string plain = Small(name);
  std::erase_if(plain, [](char c) { return c == '_' || c == '-'; });
  return std::ranges::any_of(kKeyNames,
                             [&](std::string_view ending) { return plain.ends_with(ending); });
}

std::optional<Span> KeyAt(std::string_view text, std::size_t begin) {
  constexpr std::size_t kLeast = 20;
  std::size_t end = EndOfRun(text, begin, kAssigned, kLongestRun);
  if (end - begin < kLeast || IsIn(kAssigned, text, end)) return std::nullopt;
  for (int more = 0; more < 2 && At(text, end) == '='; ++more) ++end;
  while (text[end - 1] == '.') --end;
  const std::string_view value = text.substr(begin, end - begin);
  const bool is_hex = value.size() >= 32 &&
                      (value.find_first_not_of("0123456789abcdef") == std::string_view::npos ||
                       value.find_first_not_of("0123456789ABCDEF") == std::string_view::npos);
  if (!IsSecret(value, is_hex ? Needs::kDigit : Needs::kMixed)) return std::nullopt;
  return Span{begin, end};
}

// "api_key = …", at the sign.
std::optional<Span> FindAssigned(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongestName = 64;
  std::size_t end = at;
  while (end > 0 && at - end < 3 && IsIn(kBlank, text, end - 1)) --end;
  std::size_t from = end;
  while (from > 0 && end - from < kLongestName && IsIn(kName, text, from - 1)) --from;
  if (from == end || !IsKeyName(text.substr(from, end - from))) return std::nullopt;
  std::size_t begin = at + 1;
  if (At(text, begin) == '=' || At(text, begin) == '>') ++begin;
  begin = EndOfRun(text, begin, kBlank, 5);
  return KeyAt(text, begin);
}

// The value of a field with such a name, if it is nothing else.
std::optional<Span> FindNamed(std::string_view text, std::string_view field) {
  if (field.empty() || !IsKeyName(field)) return std::nullopt;
  const std::optional<Span> found = KeyAt(text, 0);
  return found && found->end == text.size() ? found : std::nullopt;
}

// --- Cards ---

enum class Said : std::uint8_t { kCard, kOther, kNothing };

// "cardNumber" is two. Small.
std::vector<std::string> WordsOf(std::string_view text) {
  const auto is_small = [](char c) {
    return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
  };
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    while (IsIn(kCapital, text, at)) ++at;
    while (at < text.size() && is_small(text[at])) ++at;
    if (at > from) {
      words.push_back(Small(text.substr(from, at - from)));
    } else {
      ++at;
    }
  }
  return words;
}

Said SaidBy(const std::string& word) {
  if (IsOneOf(kOtherNumbers, word)) return Said::kOther;
  const bool is_card = std::ranges::any_of(kCardWords, [&](std::string_view one) {
    return static_cast<unsigned char>(one[0]) < 0x80 ? word.starts_with(one) : word.contains(one);
  });
  return is_card ? Said::kCard : Said::kNothing;
}

template <typename Words>
Said SaidByFirstOf(const Words& words) {
  for (const std::string& word : words) {
    if (const Said said = SaidBy(word); said != Said::kNothing) return said;
  }
  return Said::kNothing;
}

// By the nearest word that says it: before the number, by the field's name, then behind it.
Said WhatIsSaid(std::string_view text, Span number, std::string_view field) {
  constexpr std::size_t kAround = 48;  // characters
  const auto is_within = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  std::size_t from = number.begin;
  for (std::size_t count = 0; count < kAround && from > 0; ++count) {
    --from;
    while (from > 0 && is_within(from)) --from;
  }
  std::vector<std::string> words = WordsOf(text.substr(from, number.begin - from));
  std::ranges::reverse(words);
  if (const Said before = SaidByFirstOf(words); before != Said::kNothing) return before;
  words = WordsOf(field);
  std::ranges::reverse(words);
  if (const Said by_field = SaidByFirstOf(words); by_field != Said::kNothing) return by_field;
  std::size_t to = number.end;
  for (std::size_t count = 0; count < kAround / 2 && to < text.size(); ++count) {
    ++to;
    while (is_within(to)) ++to;
  }
  return SaidByFirstOf(WordsOf(text.substr(number.end, to - number.end)));
}

// Luhn's.
bool HasCheckDigit(std::string_view digits) {
  int sum = 0;
  bool is_doubled = false;
  for (auto c = digits.rbegin(); c != digits.rend(); ++c) {
    const int digit = (*c - '0') * (is_doubled ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
    is_doubled = !is_doubled;
  }
  return sum % 10 == 0;
}

// Of the numbers that are given to cards.
bool IsGivenToCards(std::string_view digits) {
  const char second = digits[1];
  switch (digits[0]) {
    case '2':
      return second >= '2' && second <= '7';
    case '3':
      return second == '4' || second == '7';
    case '4':
      return true;
    case '5':
      return second >= '1' && second <= '5';
    case '6':
      return digits.starts_with("6011") || second == '4' || second == '5';
    default:
      return false;
  }
}

// "0.4111…", or another group of an IBAN.
bool IsOfLonger(std::string_view text, Span number, char separator) {
  const char before = number.begin > 0 ? text[number.begin - 1] : '\0';
  const char earlier = number.begin > 1 ? text[number.begin - 2] : '\0';
  const bool follows_digit = kDigit[static_cast<unsigned char>(earlier)];
  if (before == '.' && follows_digit) return true;
  if (before == '+' && (earlier | 0x20) == 'e') return true;
  if (At(text, number.end) == '.' && IsIn(kDigit, text, number.end + 1)) return true;
  if (separator == '\0') return false;
  if (before == separator && follows_digit) return true;
  return At(text, number.end) == separator &&
         EndOfRun(text, number.end + 1, kDigit, 4) - number.end - 1 == 4;
}

// In groups as on the card, or in one piece where a word says that it is one.
std::optional<Span> FindCard(std::string_view text, std::size_t at, std::string_view field) {
  static constexpr std::size_t kLong[] = {4, 4, 4, 4};
  static constexpr std::size_t kShort[] = {4, 6, 5};
  const char second = At(text, at + 1);
  const bool is_short = text[at] == '3' && (second == '4' || second == '7');
  char separator = At(text, at + 4);
  if (separator != ' ' && separator != '-') separator = '\0';
  Span number{at, at};
  std::string digits;
  for (const std::size_t size :
       is_short ? std::span(kShort) : std::span<const std::size_t>(kLong)) {
    if (!digits.empty() && separator != '\0' && At(text, number.end++) != separator) {
      return std::nullopt;
    }
    const std::size_t end = EndOfRun(text, number.end, kDigit, size);
    if (end - number.end < size) return std::nullopt;
    digits.append(text.substr(number.end, size));
    number.end = end;
  }
  if (IsIn(kName, text, number.end) || !IsGivenToCards(digits) || !HasCheckDigit(digits) ||
      IsOfLonger(text, number, separator)) {
    return std::nullopt;
  }
  const Said said = WhatIsSaid(text, number, field);
  const bool is_card = said == Said::kCard || (said == Said::kNothing && separator != '\0');
  return is_card ? std::optional(number) : std::nullopt;
}

// --- Texts ---

struct Found {
  std::string_view name;
  Span span;
};

// Not within a longer word: "task-…" holds no "sk-…". In text that was escaped once more the
// letter of an escape is none of a word, nor is what was found before.
bool IsStart(std::string_view text, std::size_t at, std::size_t from) {
  if (at == from || text[at] == '-' || !IsIn(kName, text, at) || !IsIn(kName, text, at - 1)) {
    return true;
  }
  const char before = text[at - 1];
  return at >= 2 && text[at - 2] == '\\' && (before == 'n' || before == 'r' || before == 't');
}

std::optional<Found> FindAt(std::string_view text, std::size_t at, std::size_t from,
                            std::string_view field);

// What is assigned or sent may be of a kind that says more.
std::optional<Found> OrInner(std::string_view name, std::optional<Span> span, std::string_view text,
                             std::size_t at, std::string_view field) {
  if (!span) return std::nullopt;
  std::optional<Found> inner;
  if (span->begin > at) inner = FindAt(text, span->begin, span->begin, field);
  return inner ? inner : Found{name, *span};
}

std::optional<Found> FindAt(std::string_view text, std::size_t at, std::size_t from,
                            std::string_view field) {
  const auto c = static_cast<unsigned char>(text[at]);
  if (c >= 128) return std::nullopt;
  const bool is_sign = c == '=' || c == ':' || c == '-' || (c >= '2' && c <= '6');
  if (kIndex.begin[c] == kIndex.begin[c + 1] && !is_sign) return std::nullopt;
  if (!IsStart(text, at, from)) return std::nullopt;
  if (c == '-') return OrInner(kPrivateKey, FindPrivateKey(text, at), text, at, field);
  for (std::size_t i = kIndex.begin[c]; i < kIndex.begin[c + 1]; ++i) {
    const Row& row = kRows[kIndex.row[i]];
    if (auto found = OrInner(row.name, MatchForm(row, text, at), text, at, field)) return found;
  }
  if (c == '=' || c == ':') {
    return OrInner(kSecretKey, FindAssigned(text, at), text, at, field);
  }
  return c >= '2' && c <= '6' ? OrInner(kCardNumber, FindCard(text, at, field), text, at, field)
                              : std::nullopt;
}

// In their order. `field` is the name of the field whose text it is.
std::vector<Found> FindAll(std::string_view text, std::string_view field) {
  std::vector<Found> found;
  if (const std::optional<Span> named = FindNamed(text, field)) {
    found.push_back(
        FindAt(text, named->begin, named->begin, field).value_or(Found{kSecretKey, *named}));
    return found;
  }
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (std::optional<Found> one = FindAt(text, at, from, field)) {
      found.push_back(*one);
      from = at = one->span.end;
    } else {
      ++at;
    }
  }
  return found;
}

// --- Values ---

// What a raw string stands for, and which of its bytes each byte of that comes from.
struct Unescaped {
  explicit Unescaped(std::string_view raw_string) : raw(raw_string) {
    if (!raw.contains('\\')) {
      text = raw.substr(1, raw.size() < 2 ? 0 : raw.size() - 2);
      return;
    }
    for (std::size_t at = 1; at + 1 < raw.size();) {
      std::size_t size = 1;
      if (raw[at] == '\\') size = At(raw, at + 1) == 'u' ? 6 : 2;
      // Two halves of one character.
      if (size == 6 && HasAt(raw, at + 6, "\\u")) {
        const std::string both = json::Unescape('"' + std::string(raw.substr(at, 12)) + '"');
        if (both.size() == 4) size = 12;
      }
      decoded += size == 1 ? std::string(1, raw[at])
                           : json::Unescape('"' + std::string(raw.substr(at, size)) + '"');
      offsets.resize(decoded.size(), at);
      at += size;
    }
    offsets.push_back(raw.size() - 1);
    text = decoded;
  }
  Unescaped(const Unescaped&) = delete;
  Unescaped& operator=(const Unescaped&) = delete;

  std::size_t RawPlace(std::size_t at) const { return offsets.empty() ? at + 1 : offsets[at]; }

  std::string_view raw;
  std::string_view text;

 private:
  std::string decoded;
  std::vector<std::size_t> offsets;
};

struct Masking {
  SecretKinds kinds;
  SecretKinds in_names;             // of fields, which stay
  std::optional<std::string> json;  // if anything is to be masked
};

Masking Mask(std::string_view json) {
  Masking masking;
  std::string field;
  std::size_t done = 0;
  for (json::StringReader strings(json); strings.Next();) {
    const Unescaped string(strings.raw());
    if (strings.is_name()) {
      field = string.text;
      for (const Found& one : FindAll(field, "")) masking.in_names.push_back(one.name);
      continue;
    }
    for (const Found& one : FindAll(string.text, field)) {
      if (!masking.json) masking.json.emplace();
      const std::size_t begin = strings.begin() + string.RawPlace(one.span.begin);
      masking.json->append(json.substr(done, begin - done)).append("[");
      masking.json->append(one.name).append("]");
      done = strings.begin() + string.RawPlace(one.span.end);
      masking.kinds.push_back(one.name);
    }
  }
  if (masking.json) masking.json->append(json.substr(done));
  return masking;
}

Status Refused(const std::string& what, const SecretKinds& kinds, std::string_view remedy) {
  std::string list;
  for (auto kind = kinds.begin(); kind != kinds.end(); ++kind) {
    if (std::find(kinds.begin(), kind, *kind) != kind) continue;
    list.append(list.empty() ? "" : ", ").append(*kind);
  }
  return {StatusCode::kSecretFound, what + " holds a secret (" + list +
                                        "): " + std::string(remedy) +
                                        ", or put it with SecretHandling::kAllow"};
}

Status CheckName(const std::string& what, std::string_view name) {
  SecretKinds kinds;
  for (const Found& one : FindAll(name, "")) kinds.push_back(one.name);
  return kinds.empty() ? Status() : Refused(what, kinds, "a name can't be masked");
}

}  // namespace

SecretKinds MaskSecrets(std::string& json) {
  Masking masking = Mask(json);
  if (masking.json) json = *std::move(masking.json);
  return std::move(masking.kinds);
}

Result<SecretKinds> GuardSecrets(const Namespace& ns, std::string_view key, std::string& json,
                                 SecretHandling handling) {
  if (handling == SecretHandling::kAllow) return SecretKinds{};
  for (const std::string& label : ns) {
    if (Status named = CheckName("a label of the namespace", label); !named.ok()) {
      return std::unexpected(std::move(named));
    }
  }
  if (Status named = CheckName("a key", key); !named.ok()) return std::unexpected(std::move(named));
  const std::string value = "the value of " + json::Quoted(key);
  Masking masking = Mask(json);
  if (!masking.in_names.empty()) {
    return std::unexpected(
        Refused("the name of a field in " + value, masking.in_names, "a name can't be masked"));
  }
  if (handling == SecretHandling::kRefuse && !masking.kinds.empty()) {
    return std::unexpected(Refused(value, masking.kinds, "leave it out"));
  }
  if (masking.json) json = *std::move(masking.json);
  return std::move(masking.kinds);
}

}  // namespace keepsake
