#include "text/text_record.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "base/hash.h"
#include "json/json.h"
#include "json/path.h"
#include "json/strings.h"
#include "text/analysis.h"
#include "text/auto_fields.h"
#include "text/dates.h"
#include "text/relative_dates.h"
#include "text/substring.h"
#include "text/word_list.h"

namespace keepsake::search {
namespace {

// Words that place what is told in time, folded; each between two spaces.
constexpr std::string_view kTimeWords =
    " yesterday today tonight tomorrow last next ago week weekend month year years morning evening"
    " since monday tuesday wednesday thursday friday saturday sunday january february march april"
    " may june july august september october november december recently just soon summer winter"
    " spring fall autumn"
    " gestern heute morgen woche monat jahr hier aujourd demain semaine mois annee ayer hoy manana"
    " semana mes ano ieri oggi domani settimana mese anno ontem hoje amanha"
    " вчера сегодня завтра неделя неделю месяц год ";
constexpr std::string_view kTimeSigns[] = {"昨",   "今天", "今日", "明天", "明日", "去年", "今年",
                                           "明年", "上周", "下周", "上个", "下个", "先週", "来週",
                                           "年",   "月",   "周末", "어제", "오늘", "내일"};
// What says how the assistant is to do things from now on.
constexpr std::string_view kStandingWords =
    " always never prefer prefers preferred whenever immer nie bevorzuge ";
constexpr std::uint32_t kMostStandingWords = 60;
constexpr std::string_view kUsers = " user human ";
constexpr std::string_view kAssistants = " assistant ai model bot agent ";
// Where no field is named: that of dates. It has no weight.
constexpr std::uint32_t kDateField = TextConfig::kMaxFields - 1;

constexpr std::string_view kNumberWords = " one couple several dozen half once both many ";

std::string Between(std::string_view word) { return ' ' + std::string(word) + ' '; }

bool IsYear(std::string_view word) {
  return word.size() == 4 && (word.starts_with("19") || word.starts_with("20")) &&
         word.find_first_not_of("0123456789") == std::string_view::npos;
}

bool BeginsWithDigit(std::string_view word) { return word[0] >= '0' && word[0] <= '9'; }

std::uint64_t FlagsOfText(std::string_view text) {
  std::uint64_t flags = 0;
  if (text.contains('?') || text.contains("？")) flags |= RecordReader::kAsks;
  const auto in_text = [&](std::string_view sign) { return text.contains(sign); };
  if (std::ranges::any_of(kTimeSigns, in_text)) flags |= RecordReader::kTellsTime;
  return flags;
}

// As the word is written, not as it is stemmed.
std::uint64_t FlagsOfWord(std::string_view word) {
  static constexpr std::string_view kGroups[] = {kTimeWords, kNumberWords, kStandingWords};
  static constexpr std::uint64_t kFlags[] = {0, RecordReader::kTellsTime,
                                             RecordReader::kTellsNumber, RecordReader::kStands};
  static const WordList words(kGroups);
  std::uint64_t flags = kFlags[words.GroupOf(word)];
  if (IsYear(word)) flags |= RecordReader::kTellsTime;
  if (BeginsWithDigit(word)) flags |= RecordReader::kTellsNumber;
  return flags;
}

std::uint64_t FlagsOfRole(std::string_view role) {
  const std::string spaced = Between(ToLowerAscii(role));
  if (kUsers.contains(spaced)) return RecordReader::kOfUser;
  return kAssistants.contains(spaced) ? RecordReader::kOfAssistant : 0;
}

// Gathers the tokens of an item.
class RecordBuilder {
 public:
  explicit RecordBuilder(Language language) : language_(language) {}

  void Add(std::uint32_t field, bool has_weight, std::string_view text) {
    // A field without weight says when all of an item was, not that the item tells it.
    std::uint64_t flags = has_weight ? FlagsOfText(text) : 0;
    for (Token& token : Analyze(text, language_)) {
      if (!has_weight && token.kind == Token::Kind::kDate && !day_) {
        day_ = DayOfName(token.text);
        date_field_ = field;
      }
      std::string written;
      if (token.kind == Token::Kind::kWord) {
        written = ToLowerAscii(text.substr(token.begin, token.end - token.begin));
        if (has_weight) flags |= FlagsOfWord(written);
      }
      Counts& counts = counts_[token.text];
      if (written != token.text && written.size() <= kMaxTokenBytes) counts.written = written;
      ++counts.at[counter_.block() * TextConfig::kMaxFields + field];
      counter_.Add(token, has_weight);
    }
    flags_ |= flags;
    if ((flags & RecordReader::kTellsTime) != 0) told_.append(text).append("\n");
  }

  TextEntry Take(std::string_view speaker, std::string_view role, std::string_view group,
                 double position) {
    AddRelativeDates();
    TextEntry entry;
    entry.length = counter_.words();
    flags_ |= FlagsOfRole(role);
    if (entry.length > kMostStandingWords) flags_ &= ~RecordReader::kStands;
    AppendVarint(flags_, entry.record);
    AppendVarint(entry.length, entry.record);
    AppendText((flags_ & (RecordReader::kOfUser | RecordReader::kOfAssistant)) != 0 ? "" : speaker,
               entry.record);
    AppendText(group, entry.record);
    AppendU64(std::bit_cast<std::uint64_t>(position), entry.record);
    AppendVarint(counts_.size(), entry.record);
    for (const auto& [token, counts] : counts_) {
      AppendText(token, entry.record);
      AppendText(counts.written, entry.record);
      AppendVarint(counts.at.size(), entry.record);
      for (const auto& [place, occurrences] : counts.at) {
        AppendVarint(place, entry.record);
        AppendVarint(occurrences, entry.record);
      }
      entry.tokens.push_back(token);
    }
    return entry;
  }

 private:
  struct Counts {
    std::string written;
    std::map<std::uint32_t, std::uint32_t> at;  // by place
  };

  // "Yesterday" is the day before the item's own.
  void AddRelativeDates() {
    if (!day_ || told_.empty()) return;
    for (const std::string& name : RelativeDatesIn(told_, *day_, Weeks::kLeftOut)) {
      ++counts_[name].at[counter_.block() * TextConfig::kMaxFields + date_field_];
    }
  }

  Language language_;
  std::string told_;                 // texts that tell a time
  std::optional<std::int64_t> day_;  // of the item, by a field without one
  std::uint32_t date_field_ = 0;
  std::uint64_t flags_ = 0;
  BlockCounter counter_;
  std::map<std::string, Counts> counts_;
};

// Of whole characters.
std::string_view BeginOf(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

// The first text at a path, "" if there is none.
std::string FirstTextAt(std::string_view value, const std::string& path) {
  if (path.empty()) return "";
  Result<std::vector<std::string>> texts = json::TextsAtPath(value, path);
  return texts && !texts->empty() ? std::move(texts->front()) : "";
}

// Tokens of a name, each after a space.
std::string NameTokens(std::string_view name, Language language) {
  std::string tokens;
  for (const Token& token : Analyze(name, language)) {
    if (token.kind != Token::Kind::kDate) (tokens += ' ') += token.text;
  }
  return tokens;
}

double WeightOf(const TextConfig& config, std::uint64_t field) {
  if (field < config.fields.size()) return config.fields[field].weight;
  return config.fields.empty() && field == kDateField ? 0 : 1;
}

std::vector<FieldText> TextsOf(std::string_view value, const TextConfig& config,
                               AutoFields& known) {
  std::vector<FieldText> texts;
  if (config.fields.empty()) {
    for (std::string& text : known.texts) texts.push_back({0, std::move(text)});
    for (std::string& date : known.dates) texts.push_back({kDateField, std::move(date)});
    return texts;
  }
  for (std::size_t field = 0; field < config.fields.size(); ++field) {
    Result<std::vector<std::string>> found = json::TextsAtPath(value, config.fields[field].path);
    if (!found) continue;  // too much to be text
    for (std::string& text : *found) texts.push_back({field, std::move(text)});
  }
  return texts;
}

}  // namespace

void BlockCounter::Add(const Token& token, bool has_weight) {
  const bool is_word = token.kind == Token::Kind::kWord || token.kind == Token::Kind::kCharacter;
  if (is_word && has_weight && !token.is_stop_word) ++words_;
}

bool HasWeight(const FieldText& text, const TextConfig& config) {
  return WeightOf(config, text.field) > 0;
}

std::vector<FieldText> TextsOf(std::string_view value, const TextConfig& config) {
  AutoFields known = AutoFieldsOf(value);
  return TextsOf(value, config, known);
}

TextEntry MakeTextEntry(std::string_view value, const TextConfig& config) {
  RecordBuilder builder(config.language);
  AutoFields known = AutoFieldsOf(value);
  std::size_t left = kMostTextBytes;
  for (const FieldText& text : TextsOf(value, config, known)) {
    const std::string_view read = BeginOf(text.text, left);
    builder.Add(static_cast<std::uint32_t>(text.field), HasWeight(text, config), read);
    left -= read.size();
    if (read.size() < text.text.size()) break;
  }
  const std::string speaker =
      config.speaker.empty() ? known.speaker : FirstTextAt(value, config.speaker);
  const std::string group = config.group.empty() ? known.group : FirstTextAt(value, config.group);
  const std::string number = FirstTextAt(value, config.position);
  double position = 0;
  if (!number.empty() && json::Validate(number).ok()) position = json::ToDouble(number);
  return builder.Take(NameTokens(speaker, config.language),
                      known.role.empty() ? speaker : known.role, group, position);
}

Bytes SealedRecord(std::int64_t item_id, const Bytes& record) {
  Bytes sealed = record;
  AppendU64(HashOf(record, static_cast<std::uint64_t>(item_id)), sealed);
  return sealed;
}

bool IsSealed(std::int64_t item_id, ByteView sealed) {
  constexpr std::size_t kSeal = 8;
  if (sealed.size() < kSeal) return false;
  const ByteView record = sealed.first(sealed.size() - kSeal);
  return WordAt(sealed.data() + record.size()) ==
         HashOf(record, static_cast<std::uint64_t>(item_id));
}

std::string FingerprintOf(const TextConfig& config) {
  std::string fingerprint =
      std::to_string(kAnalysisVersion) + '/' + std::to_string(std::to_underlying(config.language));
  const auto add = [&](char kind, std::string_view path) {
    fingerprint += '/' + (kind + std::to_string(path.size())) + ':';
    fingerprint += path;
  };
  for (const TextField& field : config.fields) add(field.weight > 0 ? 'f' : 'o', field.path);
  add('g', config.group);
  add('p', config.position);
  add('s', config.speaker);
  return fingerprint;
}

RecordReader::RecordReader(ByteView record) : reader_(record) {
  flags_ = reader_.Varint();
  length_ = static_cast<std::uint32_t>(reader_.Varint());
  speaker_ = reader_.Text();
  group_ = reader_.Text();
  position_ = std::bit_cast<double>(reader_.U64());
  left_ = reader_.Varint();
}

bool RecordReader::Next() {
  if (left_ == 0) return false;
  --left_;
  token_ = reader_.Text();
  written_ = reader_.Text();
  counts_.clear();
  for (std::uint64_t places = reader_.Varint(); places > 0 && reader_.ok(); --places) {
    const std::uint64_t place = reader_.Varint();
    counts_.push_back({place, reader_.Varint()});
  }
  if (!reader_.ok()) left_ = 0;
  return reader_.ok();
}

double RecordReader::Weighted(const TextConfig& config) {
  double weighted = 0;
  for (const InBlock& block : Blocks(config)) weighted += block.weight;
  return weighted;
}

std::span<const RecordReader::InBlock> RecordReader::Blocks(const TextConfig& config) {
  blocks_.clear();
  for (const auto& [place, occurrences] : counts_) {
    const auto block = static_cast<std::uint32_t>(place / TextConfig::kMaxFields);
    const double weight =
        WeightOf(config, place % TextConfig::kMaxFields) * static_cast<double>(occurrences);
    if (!blocks_.empty() && blocks_.back().block == block) {
      blocks_.back().weight += weight;
    } else {
      blocks_.push_back({block, weight});
    }
  }
  return blocks_;
}

}  // namespace keepsake::search
