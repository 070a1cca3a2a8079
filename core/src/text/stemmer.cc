#include "text/stemmer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "text/word_list.h"

namespace keepsake::search {
namespace {

// A word and what stands for it.
struct Replacement {
  std::string_view from;
  std::string_view to;
};

// Looks for a word among those that are replaced.
template <std::size_t kCount>
class Replacements {
 public:
  explicit Replacements(const Replacement (&all)[kCount]) : all_(all), words_(FromsOf(all)) {}

  const Replacement* Find(std::string_view word) const {
    const std::uint32_t number = words_.GroupOf(word);
    return number == 0 ? nullptr : &all_[number - 1];
  }

 private:
  static std::array<std::string_view, kCount> FromsOf(const Replacement (&all)[kCount]) {
    std::array<std::string_view, kCount> froms;
    for (std::size_t i = 0; i < kCount; ++i) froms[i] = all[i].from;
    return froms;
  }

  const Replacement (&all_)[kCount];
  WordList words_;
};

// Irregular forms.
constexpr Replacement kIrregular[] = {
    {"ate", "eat"},
    {"became", "become"},
    {"began", "begin"},
    {"begun", "begin"},
    {"bitten", "bite"},
    {"blew", "blow"},
    {"bought", "buy"},
    {"broke", "break"},
    {"broken", "break"},
    {"brought", "bring"},
    {"built", "build"},
    {"came", "come"},
    {"caught", "catch"},
    {"children", "child"},
    {"chose", "choose"},
    {"chosen", "choose"},
    {"dealt", "deal"},
    {"did", "do"},
    {"does", "do"},
    {"done", "do"},
    {"drank", "drink"},
    {"drawn", "draw"},
    {"drew", "draw"},
    {"driven", "drive"},
    {"drove", "drive"},
    {"drunk", "drink"},
    {"eaten", "eat"},
    {"fallen", "fall"},
    {"favourite", "favorite"},
    {"feet", "foot"},
    {"fell", "fall"},
    {"felt", "feel"},
    {"flew", "fly"},
    {"flown", "fly"},
    {"forgot", "forget"},
    {"forgotten", "forget"},
    {"fought", "fight"},
    {"found", "find"},
    {"froze", "freeze"},
    {"frozen", "freeze"},
    {"gave", "give"},
    {"given", "give"},
    {"goes", "go"},
    {"gone", "go"},
    {"got", "get"},
    {"gotten", "get"},
    {"grew", "grow"},
    {"grown", "grow"},
    {"heard", "hear"},
    {"held", "hold"},
    {"hid", "hide"},
    {"hidden", "hide"},
    {"kept", "keep"},
    {"knew", "know"},
    {"knives", "knife"},
    {"known", "know"},
    {"led", "lead"},
    {"lent", "lend"},
    {"lost", "lose"},
    {"made", "make"},
    {"meant", "mean"},
    {"men", "man"},
    {"met", "meet"},
    {"mice", "mouse"},
    {"paid", "pay"},
    {"people", "person"},
    {"ran", "run"},
    {"ridden", "ride"},
    {"risen", "rise"},
    {"rode", "ride"},
    {"said", "say"},
    {"sang", "sing"},
    {"sat", "sit"},
    {"saw", "see"},
    {"seen", "see"},
    {"sent", "send"},
    {"shaken", "shake"},
    {"shook", "shake"},
    {"shown", "show"},
    {"slept", "sleep"},
    {"sold", "sell"},
    {"sought", "seek"},
    {"spent", "spend"},
    {"spoke", "speak"},
    {"spoken", "speak"},
    {"stole", "steal"},
    {"stolen", "steal"},
    {"stood", "stand"},
    {"stuck", "stick"},
    {"sung", "sing"},
    {"swam", "swim"},
    {"swum", "swim"},
    {"taken", "take"},
    {"taught", "teach"},
    {"teeth", "tooth"},
    {"thought", "think"},
    {"told", "tell"},
    {"took", "take"},
    {"understood", "understand"},
    {"went", "go"},
    {"wives", "wife"},
    {"woke", "wake"},
    {"woken", "wake"},
    {"women", "woman"},
    {"won", "win"},
    {"wore", "wear"},
    {"worn", "wear"},
    {"written", "write"},
    {"wrote", "write"},
};

constexpr Replacement kExceptions[] = {
    {"andes", "andes"},  {"atlas", "atlas"}, {"bias", "bias"},    {"cosmos", "cosmos"},
    {"dying", "die"},    {"early", "earli"}, {"gently", "gentl"}, {"howe", "howe"},
    {"idly", "idl"},     {"lying", "lie"},   {"news", "news"},    {"only", "onli"},
    {"singly", "singl"}, {"skies", "sky"},   {"skis", "ski"},     {"sky", "sky"},
    {"tying", "tie"},    {"ugly", "ugli"},
};

// Final after the plural has gone.
constexpr std::string_view kInvariant[] = {"inning",  "outing",  "canning", "herring",
                                           "earring", "proceed", "exceed",  "succeed"};

// The steps of Porter2, named as in its description. A `y` that is a consonant is
// written `Y` while they run.
class Porter2 {
 public:
  explicit Porter2(std::string& word) : word_(word) {}

  void Run() {
    if (word_.size() <= 2) return;
    static const Replacements exceptions(kExceptions);
    if (const Replacement* exception = exceptions.Find(word_)) {
      word_ = exception->to;
      return;
    }
    MarkConsonantY();
    FindRegions();
    Step1a();
    if (std::ranges::find(kInvariant, word_) == std::end(kInvariant)) {
      Step1b();
      Step1c();
      Step2();
      Step3();
      Step4();
      Step5();
    }
    std::ranges::replace(word_, 'Y', 'y');
  }

 private:
  static bool IsVowel(char c) { return std::string_view("aeiouy").contains(c); }

  void MarkConsonantY() {
    for (std::size_t i = 0; i < word_.size(); ++i) {
      if (word_[i] == 'y' && (i == 0 || IsVowel(word_[i - 1]))) word_[i] = 'Y';
    }
  }

  // Behind the first consonant that follows a vowel, from `begin` on.
  std::size_t RegionAfter(std::size_t begin) const {
    for (std::size_t i = begin + 1; i < word_.size(); ++i) {
      if (!IsVowel(word_[i]) && IsVowel(word_[i - 1])) return i + 1;
    }
    return word_.size();
  }

  void FindRegions() {
    r1_ = RegionAfter(0);
    for (std::string_view prefix : {"gener", "commun", "arsen"}) {
      if (word_.starts_with(prefix)) r1_ = prefix.size();
    }
    r2_ = r1_ < word_.size() ? RegionAfter(r1_) : word_.size();
  }

  // Most words end with another letter.
  bool Ends(std::string_view suffix) const {
    return !word_.empty() && word_.back() == suffix.back() && word_.ends_with(suffix);
  }
  bool InR1(std::string_view suffix) const { return word_.size() - suffix.size() >= r1_; }
  bool InR2(std::string_view suffix) const { return word_.size() - suffix.size() >= r2_; }
  void Cut(std::size_t count) { word_.resize(word_.size() - count); }
  void Replace(std::string_view suffix, std::string_view with) {
    Cut(suffix.size());
    word_ += with;
  }

  bool HasVowelBefore(std::size_t end) const {
    return std::any_of(word_.begin(), word_.begin() + static_cast<std::ptrdiff_t>(end), IsVowel);
  }

  bool EndsInShortSyllable(std::size_t end) const {
    if (end == 2) return IsVowel(word_[0]) && !IsVowel(word_[1]);
    if (end < 3) return false;
    const char last = word_[end - 1];
    return !IsVowel(word_[end - 3]) && IsVowel(word_[end - 2]) && !IsVowel(last) && last != 'w' &&
           last != 'x' && last != 'Y';
  }
  bool IsShort() const { return r1_ >= word_.size() && EndsInShortSyllable(word_.size()); }

  bool EndsInDouble() const {
    const std::size_t n = word_.size();
    return n >= 2 && word_[n - 1] == word_[n - 2] &&
           std::string_view("bdfgmnprt").contains(word_[n - 1]);
  }

  void Step1a() {
    if (Ends("sses")) return Cut(2);
    if (Ends("ied") || Ends("ies")) return Cut(word_.size() > 4 ? 2 : 1);
    if (!Ends("s") || Ends("us") || Ends("ss")) return;
    if (word_.size() >= 2 && HasVowelBefore(word_.size() - 2)) Cut(1);
  }

  void Step1b() {
    for (std::string_view suffix : {"eedly", "eed"}) {
      if (!Ends(suffix)) continue;
      if (InR1(suffix)) Replace(suffix, "ee");
      return;
    }
    for (std::string_view suffix : {"ingly", "edly", "ing", "ed"}) {
      if (!Ends(suffix)) continue;
      if (!HasVowelBefore(word_.size() - suffix.size())) return;
      Cut(suffix.size());
      if (Ends("at") || Ends("bl") || Ends("iz")) {
        word_ += 'e';
      } else if (EndsInDouble()) {
        Cut(1);
      } else if (IsShort()) {
        word_ += 'e';
      }
      return;
    }
  }

  void Step1c() {
    const std::size_t n = word_.size();
    if (n > 2 && (word_[n - 1] == 'y' || word_[n - 1] == 'Y') && !IsVowel(word_[n - 2])) {
      word_[n - 1] = 'i';
    }
  }

  // The longest of the suffixes decides, in R1 or not. They come longest first.
  template <typename Apply>
  void ReplaceLongest(std::span<const Replacement> suffixes, Apply apply) {
    for (const Replacement& suffix : suffixes) {
      if (Ends(suffix.from)) return apply(suffix);
    }
  }

  void Step2() {
    static constexpr Replacement kSuffixes[] = {
        {"ization", "ize"}, {"ational", "ate"}, {"fulness", "ful"}, {"ousness", "ous"},
        {"iveness", "ive"}, {"tional", "tion"}, {"biliti", "ble"},  {"lessli", "less"},
        {"entli", "ent"},   {"ation", "ate"},   {"alism", "al"},    {"aliti", "al"},
        {"ousli", "ous"},   {"iviti", "ive"},   {"fulli", "ful"},   {"enci", "ence"},
        {"anci", "ance"},   {"abli", "able"},   {"izer", "ize"},    {"ator", "ate"},
        {"alli", "al"},     {"bli", "ble"},     {"ogi", "og"},      {"li", ""}};
    ReplaceLongest(kSuffixes, [&](const Replacement& suffix) {
      if (!InR1(suffix.from)) return;
      const std::size_t stem = word_.size() - suffix.from.size();
      const char before = stem > 0 ? word_[stem - 1] : ' ';
      if (suffix.from == "ogi" && before != 'l') return;
      if (suffix.from == "li" && !std::string_view("cdeghkmnrt").contains(before)) return;
      Replace(suffix.from, suffix.to);
    });
  }

  void Step3() {
    static constexpr Replacement kSuffixes[] = {
        {"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"},
        {"ative", ""},      {"ical", "ic"},     {"ness", ""},    {"ful", ""}};
    ReplaceLongest(kSuffixes, [&](const Replacement& suffix) {
      if (suffix.from == "ative" ? InR2(suffix.from) : InR1(suffix.from)) {
        Replace(suffix.from, suffix.to);
      }
    });
  }

  void Step4() {
    static constexpr Replacement kSuffixes[] = {
        {"ement", ""}, {"ance", ""}, {"ence", ""}, {"able", ""}, {"ible", ""}, {"ment", ""},
        {"ant", ""},   {"ent", ""},  {"ism", ""},  {"ate", ""},  {"iti", ""},  {"ous", ""},
        {"ive", ""},   {"ize", ""},  {"ion", ""},  {"al", ""},   {"er", ""},   {"ic", ""}};
    ReplaceLongest(kSuffixes, [&](const Replacement& suffix) {
      if (!InR2(suffix.from)) return;
      const std::size_t stem = word_.size() - suffix.from.size();
      if (suffix.from == "ion" && (stem == 0 || (word_[stem - 1] != 's' && word_[stem - 1] != 't')))
        return;
      Cut(suffix.from.size());
    });
  }

  void Step5() {
    if (Ends("e")) {
      if (InR2("e") || (InR1("e") && !EndsInShortSyllable(word_.size() - 1))) Cut(1);
    } else if (Ends("ll") && InR2("l")) {
      Cut(1);
    }
  }

  std::string& word_;
  std::size_t r1_ = 0;
  std::size_t r2_ = 0;
};

// Takes the first ending that fits and leaves `min_stem` letters. The longest come
// first.
void CutEnding(std::string& word, std::size_t min_stem,
               std::initializer_list<std::string_view> endings) {
  for (std::string_view ending : endings) {
    if (word.size() >= min_stem + ending.size() && word.ends_with(ending)) {
      word.resize(word.size() - ending.size());
      return;
    }
  }
}

void StemGerman(std::string& word) {
  CutEnding(word, 4, {"innen", "ern", "est", "en", "em", "er", "es", "st", "e", "n", "s", "t"});
}

void StemFrench(std::string& word) {
  if (word.size() >= 6 && word.ends_with("aux")) word.replace(word.size() - 2, 2, "l");
  CutEnding(word, 3, {"euses", "euse", "eux", "ees", "ee", "es", "er", "ez", "s", "x", "e"});
  CutEnding(word, 3, {"e"});
}

void StemSpanish(std::string& word) {
  CutEnding(word, 3, {"ces", "es", "os", "as", "s"});
  CutEnding(word, 3, {"a", "o", "e"});
}

void StemItalian(std::string& word) {
  CutEnding(word, 3, {"ie", "he", "hi", "ii", "ia", "io"});
  CutEnding(word, 3, {"a", "e", "i", "o"});
}

void StemPortuguese(std::string& word) {
  if (word.size() >= 5 && word.ends_with("oes")) word.replace(word.size() - 3, 3, "ao");
  CutEnding(word, 3, {"es", "os", "as", "s"});
  CutEnding(word, 3, {"a", "o", "e"});
}

// Two bytes a letter; й has been folded to и.
void StemCyrillic(std::string& word) {
  CutEnding(word, 6, {"иями", "ями", "ами", "ыми", "ими", "ого", "его", "ому", "ему", "иях", "ях",
                      "ах",   "ов",  "ев",  "ом",  "ем",  "ам",  "ям",  "ая",  "яя",  "ое",  "ее",
                      "ые",   "ие",  "ыи",  "ии",  "ои",  "еи",  "их",  "ых",  "ую",  "юю",  "ью",
                      "ия",   "а",   "е",   "и",   "о",   "у",   "ы",   "ь",   "ю",   "я"});
}

// The article, also behind "and", "with", "like" and "so", and what it becomes behind "to".
// Two bytes a letter, two letters at least stay.
void CutArabicArticle(std::string& word) {
  constexpr std::string_view kArticles[] = {"وال", "بال", "كال", "فال", "لل", "ال"};
  constexpr std::size_t kLeastLeft = 4;
  for (const std::string_view article : kArticles) {
    if (!word.starts_with(article)) continue;
    if (word.size() >= article.size() + kLeastLeft) word.erase(0, article.size());
    return;
  }
}

bool IsArabic(std::string_view word) {
  return word.size() >= 2 && word[0] >= '\xD8' && word[0] <= '\xDB';
}

bool IsLatin(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool IsCyrillic(std::string_view word) {
  return word.size() >= 2 && (word[0] == '\xD0' || word[0] == '\xD1');
}

}  // namespace

void Stem(Language language, std::string& word) {
  if (language == Language::kNone) return;
  if (IsCyrillic(word)) return StemCyrillic(word);
  if (IsArabic(word)) return CutArabicArticle(word);
  if (!IsLatin(word)) return;
  switch (language) {
    case Language::kNone:
      return;
    case Language::kEnglish:
      static const Replacements irregular(kIrregular);
      if (const Replacement* regular = irregular.Find(word)) word = regular->to;
      return Porter2(word).Run();
    case Language::kGerman:
      return StemGerman(word);
    case Language::kFrench:
      return StemFrench(word);
    case Language::kSpanish:
      return StemSpanish(word);
    case Language::kItalian:
      return StemItalian(word);
    case Language::kPortuguese:
      return StemPortuguese(word);
  }
}

}  // namespace keepsake::search
