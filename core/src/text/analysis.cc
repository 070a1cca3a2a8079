#include "text/analysis.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "text/dates.h"
#include "text/languages/language.h"
#include "text/languages/other_scripts.h"
#include "text/stop_words.h"
#include "text/telephone.h"
#include "text/unicode.h"
#include "text/word_list.h"

namespace keepsake::search {
namespace {

// A run of letters and digits between two joints of a compound.
struct Part {
  std::string folded;
  std::uint32_t begin;
  std::uint32_t end;
  char joint;  // what stands before it: 0 at the start, 'A' where only the case changes
  bool is_number;
};

bool IsWordClass(CharacterClass kind) {
  return kind == CharacterClass::kLetter || kind == CharacterClass::kDigit;
}

bool IsUpper(char32_t c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char32_t c) { return c >= 'a' && c <= 'z'; }
bool IsAllDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Joins two parts of a compound, as ASCII: ' - _ . @ / : , +, 0 for what does not.
char JointOf(char32_t c) {
  if (c == 0x2019 || c == 0x02BC) return '\'';
  if (c == 0x2010 || c == 0x2011) return '-';
  return c < 0x80 && std::string_view("'-_.@:,").contains(static_cast<char>(c))
             ? static_cast<char>(c)
             : '\0';
}

// Cuts between characters.
void CutToTokenSize(std::string& text) {
  if (text.size() <= kMaxTokenBytes) return;
  std::size_t end = kMaxTokenBytes;
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
}

class Analysis {
 public:
  Analysis(std::string_view text, Language language) : text_(text), language_(language) {
    tokens_.reserve(std::min(text.size() / kUsualBytes, kMaxTokens));
  }

  std::vector<Token> Run() {
    while (at_ < text_.size() && tokens_.size() < kMaxTokens) {
      const Character character = Peek();
      switch (ClassOf(character.code_point)) {
        case CharacterClass::kDigit:
          AddTelephone();
          [[fallthrough]];
        case CharacterClass::kLetter:
          ReadCompound();
          break;
        case CharacterClass::kUnspaced:
          ReadUnspaced();
          break;
        case CharacterClass::kEmoji:
          ReadEmoji();
          break;
        case CharacterClass::kNone:
          dates_.Interrupt(character.code_point);
          [[fallthrough]];
        case CharacterClass::kIgnored:
          at_ += character.length;
      }
    }
    return std::move(tokens_);
  }

 private:
  Character Peek() const { return FirstCharacter(text_.substr(at_)); }
  CharacterClass ClassAt(std::size_t at) const {
    if (at >= text_.size()) return CharacterClass::kNone;
    return ClassOf(FirstCharacter(text_.substr(at)).code_point);
  }

  void Add(std::string text, Token::Kind kind, std::size_t begin, std::size_t end,
           std::uint32_t position, bool is_stop_word = false) {
    CutToTokenSize(text);
    if (text.empty()) return;
    tokens_.push_back({.text = std::move(text),
                       .kind = kind,
                       .is_stop_word = is_stop_word,
                       .position = position,
                       .begin = static_cast<std::uint32_t>(begin),
                       .end = static_cast<std::uint32_t>(end)});
  }

  // Beside the words that it is written in.
  void AddTelephone() {
    if (at_ < telephone_end_) return;
    std::optional<Telephone> telephone = TelephoneAt(text_, at_);
    if (!telephone) return;
    telephone_end_ = telephone->end;
    Add(std::move(telephone->token), Token::Kind::kTelephone, at_, telephone->end, position_);
  }

  void ReadCompound() {
    parts_.clear();
    char joint = 0;
    do {
      ReadPart(joint);
      joint = ReadJoint();
    } while (joint != 0);
    AddCompound();
  }

  // Letters and digits up to a change of case, as between get and User, or HTTP and
  // Server.
  void ReadPart(char joint) {
    Part part{.folded = {}, .begin = Offset(), .end = 0, .joint = joint, .is_number = true};
    char32_t last = 0;
    while (at_ < text_.size()) {
      const Character character = Peek();
      const CharacterClass kind = ClassOf(character.code_point);
      if (!IsWordClass(kind) && kind != CharacterClass::kIgnored) break;
      if (IsWordClass(kind)) {
        if (IsNewWord(last, character)) break;
        AppendFolded(character.code_point, part.folded);
        part.is_number &= kind == CharacterClass::kDigit;
        last = character.code_point;
      }
      at_ += character.length;
    }
    part.end = Offset();
    parts_.push_back(std::move(part));
  }

  bool IsNewWord(char32_t last, const Character& character) const {
    if (!IsUpper(character.code_point)) return false;
    if (IsLower(last)) return true;
    const std::size_t next = at_ + character.length;
    return IsUpper(last) && next < text_.size() && IsLower(Byte(next)) &&
           !(text_.substr(next).starts_with("s") && ClassAt(next + 1) == CharacterClass::kNone);
  }

  char32_t Byte(std::size_t at) const { return static_cast<unsigned char>(text_[at]); }
  std::uint32_t Offset() const { return static_cast<std::uint32_t>(at_); }

  // Goes over what joins the last part with another one: 0 if nothing does.
  char ReadJoint() {
    if (at_ >= text_.size() || parts_.size() >= kMaxParts) return 0;
    const Character character = Peek();
    if (IsWordClass(ClassOf(character.code_point))) return 'A';
    const char joint = JointOf(character.code_point);
    const std::size_t next = at_ + character.length;
    if (joint == 0 || !IsWordClass(ClassAt(next))) return 0;
    const bool needs_digits = joint == ',' || joint == ':';
    if (needs_digits && !(parts_.back().is_number && ClassAt(next) == CharacterClass::kDigit)) {
      return 0;
    }
    at_ = next;
    return joint;
  }

  void AddCompound() {
    JoinApostrophes();
    JoinThousands();
    if (const std::optional<std::string> number = GroupedByPoints()) {
      Add(*number, Token::Kind::kCompound, parts_.front().begin, parts_.back().end, position_);
    }
    if (const std::optional<std::string> whole = Whole()) {
      Add(*whole, Token::Kind::kCompound, parts_.front().begin, parts_.back().end, position_);
    }
    for (Part& part : parts_) AddWord(part);
  }

  // Ann's is ann, don't is dont, l'eau is eau, O'Brien is obrien.
  void JoinApostrophes() {
    for (std::size_t i = 1; i < parts_.size();) {
      if (parts_[i].joint != '\'') {
        ++i;
        continue;
      }
      Part& before = parts_[i - 1];
      const std::string& after = parts_[i].folded;
      const bool is_elision = before.folded.size() == 1 && after.size() > 1 &&
                              std::string_view("cdjlmnst").contains(before.folded);
      if (is_elision || before.folded == "qu") {
        before.folded = after;
        before.begin = parts_[i].begin;
      } else if (after != "s") {
        before.folded += after;
      }
      before.end = parts_[i].end;
      before.is_number = false;
      parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // 1,234,567 is one number; 3,14 is two.
  void JoinThousands() {
    for (std::size_t i = 1; i < parts_.size();) {
      if (parts_[i].joint == ',' && parts_[i].folded.size() == 3) {
        parts_[i - 1].folded += parts_[i].folded;
        parts_[i - 1].end = parts_[i].end;
        parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  // 1.250 is 1250 in German, beside one and a quarter.
  std::optional<std::string> GroupedByPoints() const {
    if (parts_.size() < 2 || !parts_[0].is_number || parts_[0].folded.size() > 3) {
      return std::nullopt;
    }
    std::string number;
    for (const Part& part : parts_) {
      const bool is_group = part.joint == '.' && part.is_number && part.folded.size() == 3;
      if (&part != &parts_[0] && !is_group) return std::nullopt;
      number += part.folded;
    }
    return number;
  }

  // An address, a domain, a time and a decimal number keep their signs; other
  // compounds are one word without them.
  std::optional<std::string> Whole() const {
    if (parts_.size() < 2 || parts_.size() > kMaxParts / 2) return std::nullopt;
    const bool is_plain = std::ranges::none_of(parts_, [](const Part& part) {
      return part.joint == '@' || part.joint == '.' || part.joint == ':' || part.joint == ',';
    });
    const bool is_initials = std::ranges::all_of(parts_, [](const Part& part) {
      return part.folded.size() == 1 && !part.is_number && part.joint != '@';
    });
    std::string whole;
    for (const Part& part : parts_) {
      if (!is_plain && !is_initials && part.joint != 0 && part.joint != 'A') whole += part.joint;
      whole += part.folded;
    }
    return whole;
  }

  void AddWord(Part& part) {
    std::string word = std::move(part.folded);
    CutOrdinal(word);
    if (const std::uint32_t number = NumeralOf(word, language_); number > 0) {
      word = std::to_string(number);
    }
    const bool is_stop_word = IsStopWord(word, language_);
    dates_.Word(word, part.joint);
    if (!is_stop_word) Stem(language_, word);
    Add(std::move(word), Token::Kind::kWord, part.begin, part.end, position_++, is_stop_word);
    AddDates(part.end);
  }

  void AddDates(std::size_t end) {
    for (std::string& date : dates_.Take()) {
      Add(std::move(date), Token::Kind::kDate, end, end, position_ - 1);
    }
  }

  void ReadUnspaced() {
    std::string last;
    std::size_t last_begin = 0;
    while (at_ < text_.size() && tokens_.size() < kMaxTokens) {
      const Character character = Peek();
      const CharacterClass kind = ClassOf(character.code_point);
      if (kind == CharacterClass::kIgnored) {
        at_ += character.length;
        continue;
      }
      if (kind != CharacterClass::kUnspaced) return;
      const std::size_t begin = at_;
      std::string folded = ReadFoldedUnspaced(character);
      const bool is_stop_word = IsStopCharacter(character.code_point);
      if (!last.empty()) {
        Add(last + folded, Token::Kind::kPair, last_begin, at_, position_ - 1);
      }
      dates_.Sign(character.code_point);
      Add(folded, Token::Kind::kCharacter, begin, at_, position_++, is_stop_word);
      AddDates(at_);
      last = std::move(folded);
      last_begin = begin;
    }
  }

  // A voiced kana may come as two characters, and is one.
  std::string ReadFoldedUnspaced(const Character& character) {
    at_ += character.length;
    std::string folded;
    AppendFolded(character.code_point, folded);
    if (at_ >= text_.size()) return folded;
    const Character mark = Peek();
    const bool is_voiced = mark.code_point == 0x3099 || mark.code_point == 0xFF9E;
    const bool is_half_voiced = mark.code_point == 0x309A || mark.code_point == 0xFF9F;
    if (!is_voiced && !is_half_voiced) return folded;
    at_ += mark.length;
    const char32_t kana = FirstCharacter(folded).code_point;
    std::string voiced;
    const bool is_u = kana == 0x3046 || kana == 0x30A6;
    AppendFolded(is_u ? kana + 0x4E : kana + (is_voiced ? 1 : 2), voiced);
    return voiced;
  }

  // One token, without its colour of skin; a flag is two signs.
  void ReadEmoji() {
    const std::size_t begin = at_;
    const Character character = Peek();
    at_ += character.length;
    std::string text(text_.substr(begin, character.length));
    if (IsRegional(character.code_point) && at_ < text_.size() && IsRegional(Peek().code_point)) {
      const std::size_t second = Peek().length;
      text += text_.substr(at_, second);
      at_ += second;
    }
    Add(std::move(text), Token::Kind::kEmoji, begin, at_, position_++);
  }

  static bool IsRegional(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }

  static constexpr std::size_t kMaxParts = 16;
  static constexpr std::size_t kUsualBytes = 6;  // of a word and a space

  std::string_view text_;
  Language language_;
  std::size_t at_ = 0;
  std::size_t telephone_end_ = 0;
  std::uint32_t position_ = 0;
  std::vector<Part> parts_;
  DateReader dates_;
  std::vector<Token> tokens_;
};

}  // namespace

void CutOrdinal(std::string& folded) {
  if (folded.size() < 3) return;
  const std::string_view digits = std::string_view(folded).substr(0, folded.size() - 2);
  if (!IsAllDigits(digits)) return;
  for (std::string_view ending : {"st", "nd", "rd", "th"}) {
    if (folded.ends_with(ending)) return folded.resize(digits.size());
  }
}

std::vector<Token> Analyze(std::string_view text, Language language) {
  return Analysis(text, language).Run();
}

}  // namespace keepsake::search
