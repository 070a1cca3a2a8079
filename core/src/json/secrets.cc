#include "keepsake/secrets.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>

#include "json/utf8.h"

namespace keepsake {
namespace {

// --- Characters ---

using Class = std::uint16_t;  // a set of these
constexpr Class kDigit = 1, kHexLetter = 2, kLower = 4, kUpper = 8, kUnderscore = 16, kDash = 32,
                kDot = 64, kPlusSlash = 128, kEquals = 256, kTilde = 512, kBlank = 1024;
constexpr Class kLetterOrDigit = kDigit | kHexLetter | kLower | kUpper;
constexpr Class kWord = kLetterOrDigit | kUnderscore;
constexpr Class kName = kWord | kDash;

constexpr Class ClassOf(unsigned char c) {
  if (c >= '0' && c <= '9') return kDigit;
  if (c >= 'a' && c <= 'f') return kHexLetter;
  if (c >= 'g' && c <= 'z') return kLower;
  if (c >= 'A' && c <= 'Z') return kUpper;
  switch (c) {
    case '_':
      return kUnderscore;
    case '-':
      return kDash;
    case '.':
      return kDot;
    case '+':
    case '/':
      return kPlusSlash;
    case '=':
      return kEquals;
    case '~':
      return kTilde;
    case ' ':
      return kBlank;
    default:
      return 0;
  }
}

constexpr auto kClasses = [] {
  std::array<Class, 256> classes{};
  for (unsigned c = 0; c < classes.size(); ++c) {
    classes[c] = ClassOf(static_cast<unsigned char>(c));
  }
  return classes;
}();

bool Is(char c, Class wanted) { return (kClasses[static_cast<unsigned char>(c)] & wanted) != 0; }

// How many bytes the space has that `text` begins with, as JavaScript's \s knows them; 0 if none.
std::size_t SpaceIn(std::string_view text) {
  if (text.empty()) return 0;
  if (text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r')) return 1;
  constexpr std::string_view kOthers[] = {"\u00a0", "\u1680", "\u2000", "\u2001", "\u2002",
                                          "\u2003", "\u2004", "\u2005", "\u2006", "\u2007",
                                          "\u2008", "\u2009", "\u200a", "\u2028", "\u2029",
                                          "\u202f", "\u205f", "\u3000", "\ufeff"};
  if (static_cast<unsigned char>(text[0]) < 0x80) return 0;
  const auto* const found = std::ranges::find_if(
      kOthers, [&](std::string_view space) { return text.starts_with(space); });
  return found == std::end(kOthers) ? 0 : found->size();
}

// --- Forms ---

// Reads a form from where it begins. Its methods say whether what they look for is there, and
// move over it.
class Cursor {
 public:
  Cursor(std::string_view text, std::size_t begin) : text_(text), begin_(begin), at_(begin) {}

  std::string_view left() const { return text_.substr(at_); }
  std::string_view before() const { return text_.substr(0, at_); }
  bool IsBefore(Class what) const { return at_ < text_.size() && Is(text_[at_], what); }

  bool Take(std::string_view literal) {
    if (!left().starts_with(literal)) return false;
    at_ += literal.size();
    return true;
  }
  bool TakeOneOf(std::string_view chars) {
    if (at_ == text_.size() || !chars.contains(text_[at_])) return false;
    ++at_;
    return true;
  }
  // As many as there are; false for fewer than `least`.
  bool Run(Class of, std::size_t least) {
    const std::size_t from = at_;
    while (IsBefore(of)) ++at_;
    return at_ - from >= least;
  }
  bool RunWithout(std::string_view stops) {
    const std::size_t from = at_;
    while (at_ < text_.size() && !stops.contains(text_[at_]) && SpaceIn(left()) == 0) ++at_;
    return at_ > from;
  }
  bool Exactly(std::size_t count, Class of) {
    while (count > 0 && IsBefore(of)) {
      ++at_;
      --count;
    }
    return count == 0;
  }
  void Skip(std::size_t count) { at_ += std::min(count, left().size()); }

  // What is masked begins here, and not with the form.
  void BeginSecret() { begin_ = at_; }
  std::string_view secret() const { return text_.substr(begin_, at_ - begin_); }
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return at_; }

 private:
  std::string_view text_;
  std::size_t begin_;
  std::size_t at_;
};

// "-----BEGIN RSA PRIVATE KEY-----"
bool TakeKeyLine(Cursor& at, std::string_view beginning) {
  if (!at.Take(beginning)) return false;
  const std::string_view rest = at.left();
  at.Run(kUpper | kBlank, 0);
  const std::string_view name = rest.substr(0, rest.size() - at.left().size());
  return (name.ends_with("PRIVATE KEY") || name.ends_with("PRIVATE KEY BLOCK")) && at.Take("-----");
}

// To its end, or to that of the text.
bool IsPrivateKey(Cursor& at) {
  if (!TakeKeyLine(at, "-----BEGIN ")) return false;
  while (!at.left().empty() && !at.left().starts_with('"')) {
    Cursor end = at;
    if (TakeKeyLine(end, "-----END ")) {
      at = end;
      return true;
    }
    const std::size_t size = at.left().starts_with('\\') ? 2 : 1;
    if (size > at.left().size()) return true;
    at.Skip(size);
  }
  return true;
}

bool IsAnthropicKey(Cursor& at) { return at.Take("sk-ant-") && at.Run(kName, 20); }

bool IsOpenAiKey(Cursor& at) { return at.Take("sk-") && at.Run(kName, 20); }

bool IsAwsKey(Cursor& at) {
  return (at.Take("AKIA") || at.Take("ASIA")) && at.Exactly(16, kDigit | kUpper) &&
         !at.IsBefore(kLetterOrDigit);
}

bool IsGithubToken(Cursor& at) {
  if (at.Take("github_pat_")) return at.Run(kWord, 50);
  return at.Take("gh") && at.TakeOneOf("pousr") && at.Take("_") && at.Run(kLetterOrDigit, 36);
}

bool IsGitlabToken(Cursor& at) { return at.Take("glpat-") && at.Run(kName, 20); }

bool IsGoogleKey(Cursor& at) {
  if (at.Take("AIza")) return at.Run(kName, 35);
  if (at.Take("ya29.")) return at.Run(kName, 30);
  return at.Take("GOCSPX-") && at.Run(kName, 24);
}

bool IsSlackToken(Cursor& at) {
  return at.Take("xox") && at.TakeOneOf("abeoprs") && at.Take("-") &&
         at.Run(kLetterOrDigit | kDash, 20);
}

bool IsStripeKey(Cursor& at) {
  if (at.Take("whsec_")) return at.Run(kLetterOrDigit | kPlusSlash | kEquals, 24);
  return at.TakeOneOf("sr") && (at.Take("k_live_") || at.Take("k_test_")) &&
         at.Run(kLetterOrDigit, 16);
}

bool IsSendgridKey(Cursor& at) {
  return at.Take("SG.") && at.Run(kName, 16) && at.Take(".") && at.Run(kName, 32);
}

bool IsNpmToken(Cursor& at) {
  return at.Take("npm_") && at.Exactly(36, kLetterOrDigit) && !at.IsBefore(kLetterOrDigit);
}

bool IsPypiToken(Cursor& at) { return at.Take("pypi-") && at.Run(kName, 50); }

bool IsHuggingFaceToken(Cursor& at) { return at.Take("hf_") && at.Run(kLetterOrDigit, 30); }

bool IsDigitaloceanToken(Cursor& at) {
  return at.Take("do") && at.TakeOneOf("opr") && at.Take("_v1_") &&
         at.Exactly(64, kDigit | kHexLetter) && at.Run(kWord, 0);
}

bool IsTelegramToken(Cursor& at) {
  const std::size_t digits = at.begin();
  if (!at.Run(kDigit, 8) || at.end() - digits > 10) return false;
  return at.Take(":AA") && at.Exactly(33, kName) && !at.IsBefore(kName);
}

bool IsJsonWebToken(Cursor& at) {
  return at.Take("eyJ") && at.Run(kName, 10) && at.Take(".eyJ") && at.Run(kName, 10) &&
         at.Take(".") && at.Run(kName, 16);
}

bool IsBearerToken(Cursor& at) {
  if (!at.TakeOneOf("Bb") || !at.Take("earer ")) return false;
  at.BeginSecret();
  return at.Run(kName | kDot | kTilde | kPlusSlash, 20) && at.Run(kEquals, 0);
}

bool IsPasswordInUrl(Cursor& at) {
  if (!at.Take("://") || !at.RunWithout("\"@/:?#") || !at.Take(":")) return false;
  at.BeginSecret();
  if (!at.RunWithout("\"@/?#\\")) return false;
  Cursor after = at;
  return after.Take("@") && after.IsBefore(kName | kDot);
}

// What the digits before a number make of it: 0.4111…, or 1e+4111…
bool IsOfLongerNumber(std::string_view before) {
  const std::size_t size = before.size();
  if (size >= 2 && before[size - 1] == '.') return Is(before[size - 2], kDigit);
  return size >= 3 && before[size - 1] == '+' && (before[size - 2] | 0x20) == 'e' &&
         Is(before[size - 3], kDigit);
}

bool TakeGroups(Cursor& at, std::initializer_list<std::size_t> sizes) {
  const std::size_t first = *sizes.begin();
  std::string_view separator = at.left().substr(std::min(first, at.left().size()), 1);
  if (separator != " " && separator != "-") separator = "";
  for (const std::size_t& size : sizes) {
    if (&size != sizes.begin() && !at.Take(separator)) return false;
    if (!at.Exactly(size, kDigit)) return false;
  }
  Cursor after = at;
  return !at.IsBefore(kName) && !(after.Take(".") && after.IsBefore(kDigit));
}

// Digits in fours, as on the card, or in one piece.
bool IsCardNumber(Cursor& at) {
  if (IsOfLongerNumber(at.before())) return false;
  Cursor other = at;
  if (Is(at.left()[0], kDigit) && at.left()[0] >= '2' && at.left()[0] <= '6' &&
      TakeGroups(at, {4, 4, 4, 4})) {
    return true;
  }
  at = other;
  return (at.left().starts_with("34") || at.left().starts_with("37")) && TakeGroups(at, {4, 6, 5});
}

// --- What has the form, and is none ---

bool HasDigit(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return Is(c, kDigit); });
}

// Of what people or style sheets write with dashes, nothing looks so.
bool IsMixed(std::string_view text) {
  return HasDigit(text) && std::ranges::any_of(text, [](char c) { return Is(c, kUpper); }) &&
         std::ranges::any_of(text, [](char c) { return Is(c, kLower | kHexLetter); });
}

// Luhn's.
bool HasCheckDigit(std::string_view number) {
  int sum = 0;
  bool is_doubled = false;
  for (auto c = number.rbegin(); c != number.rend(); ++c) {
    if (!Is(*c, kDigit)) continue;
    const int digit = (*c - '0') * (is_doubled ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
    is_doubled = !is_doubled;
  }
  return sum % 10 == 0;
}

// Of the numbers that are given to cards.
bool IsGivenToCards(std::string_view number) {
  const char second = number[1];
  switch (number[0]) {
    case '2':
      return second >= '2' && second <= '7';
    case '3':
      return second == '4' || second == '7';
    case '4':
      return true;
    case '5':
      return second >= '1' && second <= '5';
    default:
      return number.starts_with("6011") || second == '4' || second == '5';
  }
}

bool IsOfCard(std::string_view number) { return IsGivenToCards(number) && HasCheckDigit(number); }

// --- Kinds ---

struct Kind {
  std::string_view name;
  // One of these is part of each; for a card, digits are.
  std::array<std::string_view, 6> signs;
  bool (*has_form)(Cursor& at);
  bool (*is_secret)(std::string_view text) = nullptr;
  bool is_in_words = false;
};

// In the order in which they are masked: what is left of one is looked through for the next.
constexpr Kind kKinds[] = {
    {"private key", {"PRIVATE KEY"}, IsPrivateKey, nullptr, true},
    {"anthropic key", {"sk-ant-"}, IsAnthropicKey, IsMixed},
    {"openai key", {"sk-"}, IsOpenAiKey, IsMixed},
    {"aws key", {"AKIA", "ASIA"}, IsAwsKey},
    {"github token", {"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, IsGithubToken},
    {"gitlab token", {"glpat-"}, IsGitlabToken},
    {"google key", {"AIza", "ya29.", "GOCSPX-"}, IsGoogleKey, IsMixed},
    {"slack token", {"xox"}, IsSlackToken, HasDigit},
    {"stripe key", {"_live_", "_test_", "whsec_"}, IsStripeKey},
    {"sendgrid key", {"SG."}, IsSendgridKey},
    {"npm token", {"npm_"}, IsNpmToken},
    {"pypi token", {"pypi-"}, IsPypiToken},
    {"hugging face token", {"hf_"}, IsHuggingFaceToken, IsMixed},
    {"digitalocean token", {"_v1_"}, IsDigitaloceanToken},
    {"telegram token", {":AA"}, IsTelegramToken},
    {"json web token", {"eyJ"}, IsJsonWebToken},
    {"bearer token", {"earer "}, IsBearerToken, IsMixed},
    {"password in a url", {"://"}, IsPasswordInUrl, nullptr, true},
    {"card number", {}, IsCardNumber, IsOfCard},
};
constexpr std::size_t kCard = std::size(kKinds) - 1;

// Most texts hold no sign of any, and one look is enough for them: a set of kinds for each of
// the first three characters, a byte's bits being those of the kinds that it can begin.
using KindSet = std::uint32_t;
static_assert(std::size(kKinds) <= 32);

constexpr std::size_t kLook = 3;
constexpr auto kLooks = [] {
  std::array<std::array<KindSet, 256>, kLook> looks{};
  for (std::size_t kind = 0; kind < std::size(kKinds); ++kind) {
    for (const std::string_view& sign : kKinds[kind].signs) {
      for (std::size_t i = 0; i < kLook && !sign.empty(); ++i) {
        looks[i][static_cast<unsigned char>(sign[i])] |= KindSet{1} << kind;
      }
    }
  }
  for (std::size_t i = 0; i < kLook; ++i) {
    for (char digit = '0'; digit <= '9'; ++digit) {
      looks[i][static_cast<unsigned char>(digit)] |= KindSet{1} << kCard;
    }
  }
  return looks;
}();

bool HasSignAt(std::size_t kind, std::string_view text, std::size_t at) {
  Cursor digits(text, at);
  if (kind == kCard) {
    if (!digits.Exactly(4, kDigit)) return false;
    digits.TakeOneOf(" -");
    return digits.Exactly(4, kDigit);
  }
  return std::ranges::any_of(kKinds[kind].signs, [&](std::string_view sign) {
    return !sign.empty() && text.substr(at).starts_with(sign);
  });
}

KindSet KindsSignedIn(std::string_view text) {
  KindSet found = 0;
  for (std::size_t at = 0; at + kLook <= text.size(); ++at) {
    const auto look = [&](std::size_t i) {
      return kLooks[i][static_cast<unsigned char>(text[at + i])];
    };
    KindSet maybe = look(0) & look(1) & look(2) & ~found;
    for (; maybe != 0; maybe &= maybe - 1) {
      const auto kind = static_cast<std::size_t>(std::countr_zero(maybe));
      if (HasSignAt(kind, text, at)) found |= KindSet{1} << kind;
    }
  }
  return found;
}

// Not within a longer word: "task-…" holds no "sk-…". The letter of an escape is none of a word,
// be it before the form ("\nsk-…") or its first one, where there is no form ("\npm_…").
bool IsStart(std::string_view text, std::size_t at) {
  if (at == 0) return true;
  if (text[at] == '\\') return false;  // as no form does; a run of them is counted once
  const char before = text[at - 1];
  if (before == '\\') {
    std::size_t from = at - 1;
    while (from > 0 && text[from - 1] == '\\') --from;
    return (at - from) % 2 == 0;
  }
  if (!Is(before, kName)) return true;
  return at >= 2 && text[at - 2] == '\\' && (before == 'n' || before == 'r' || before == 't');
}

// --- Masking ---

// Whether places in a JSON text, each behind the last one, are in strings.
class StringTracker {
 public:
  explicit StringTracker(std::string_view json) : json_(json) {}
  bool IsInString(std::size_t place) {
    for (; at_ < place; ++at_) {
      if (json_[at_] == '\\') {
        ++at_;
      } else if (json_[at_] == '"') {
        is_inside_ = !is_inside_;
      }
    }
    return is_inside_;
  }

 private:
  std::string_view json_;
  std::size_t at_ = 0;
  bool is_inside_ = false;
};

// The text with masks, if there was anything to be masked.
std::optional<std::string> Without(const Kind& kind, std::string_view text, SecretKinds& masked) {
  std::optional<std::string> result;
  StringTracker strings(text);
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    Cursor cursor(text, at);
    if ((!kind.is_in_words && !IsStart(text, at)) || !kind.has_form(cursor)) {
      ++at;
      continue;
    }
    at = cursor.end();
    if (kind.is_secret != nullptr && !kind.is_secret(cursor.secret())) continue;
    masked.push_back(kind.name);
    if (!result) result.emplace();
    // A number of JSON may be a card's, too.
    const std::string_view quote = strings.IsInString(cursor.begin()) ? "" : "\"";
    result->append(text.substr(done, cursor.begin() - done)).append(quote).append("[");
    result->append(kind.name).append("]").append(quote);
    done = cursor.end();
  }
  if (result) result->append(text.substr(done));
  return result;
}

std::optional<std::string> Masked(std::string_view json, SecretKinds& masked) {
  std::optional<std::string> result;
  for (KindSet kinds = KindsSignedIn(json); kinds != 0; kinds &= kinds - 1) {
    const Kind& kind = kKinds[std::countr_zero(kinds)];
    auto without = Without(kind, result ? std::string_view(*result) : json, masked);
    if (without) result = std::move(without);
  }
  return result;
}

Status Refused(std::string_view key, const SecretKinds& kinds) {
  std::string list;
  for (auto kind = kinds.begin(); kind != kinds.end(); ++kind) {
    if (std::find(kinds.begin(), kind, *kind) != kind) continue;
    list.append(list.empty() ? "" : ", ").append(*kind);
  }
  return {StatusCode::kSecretFound,
          "the value of " + json::Quoted(key) + " holds a secret (" + list +
              "): leave it out, or put it with SecretHandling::kMask or kAllow"};
}

}  // namespace

SecretKinds MaskSecrets(std::string& json) {
  SecretKinds kinds;
  if (std::optional<std::string> masked = Masked(json, kinds)) json = *std::move(masked);
  return kinds;
}

Result<SecretKinds> GuardSecrets(std::string_view key, std::string& json, SecretHandling handling) {
  if (handling == SecretHandling::kAllow) return SecretKinds{};
  SecretKinds kinds;
  std::optional<std::string> masked = Masked(json, kinds);
  if (!masked) return kinds;
  if (handling == SecretHandling::kRefuse) return std::unexpected(Refused(key, kinds));
  json = *std::move(masked);
  return kinds;
}

}  // namespace keepsake
