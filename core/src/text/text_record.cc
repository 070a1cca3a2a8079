#include "text/text_record.h"

#include <algorithm>
#include <map>
#include <utility>

#include "json/json.h"
#include "json/path.h"
#include "json/strings.h"
#include "text/analysis.h"
#include "text/substring.h"

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
  std::uint64_t flags = 0;
  if (kTimeWords.contains(Between(word)) || IsYear(word)) flags |= RecordReader::kTellsTime;
  if (BeginsWithDigit(word) || kNumberWords.contains(Between(word))) {
    flags |= RecordReader::kTellsNumber;
  }
  return flags;
}

using FieldCounts = std::map<std::uint32_t, std::uint32_t>;

// Gathers the tokens of an item.
class RecordBuilder {
 public:
  explicit RecordBuilder(Language language) : language_(language) {}

  void Add(std::uint32_t field, bool has_weight, std::string_view text) {
    // A field without weight says when all of an item was, not that the item tells it.
    if (has_weight) flags_ |= FlagsOfText(text);
    for (Token& token : Analyze(text, language_)) {
      if (has_weight && token.kind == Token::Kind::kWord) {
        flags_ |= FlagsOfWord(ToLowerAscii(text.substr(token.begin, token.end - token.begin)));
      }
      if (token.kind == Token::Kind::kWord || token.kind == Token::Kind::kCharacter) {
        length_ += has_weight && !token.is_stop_word ? 1 : 0;
      }
      ++counts_[std::move(token.text)][field];
    }
  }

  TextEntry Take(std::string_view speaker) {
    TextEntry entry;
    entry.length = length_;
    AppendVarint(flags_, entry.record);
    AppendVarint(length_, entry.record);
    AppendText(speaker, entry.record);
    AppendVarint(counts_.size(), entry.record);
    for (const auto& [token, fields] : counts_) {
      AppendText(token, entry.record);
      AppendVarint(fields.size(), entry.record);
      for (const auto& [field, occurrences] : fields) {
        AppendVarint(field, entry.record);
        AppendVarint(occurrences, entry.record);
      }
      entry.tokens.push_back(token);
    }
    return entry;
  }

 private:
  Language language_;
  std::uint64_t flags_ = 0;
  std::uint32_t length_ = 0;
  std::map<std::string, FieldCounts> counts_;
};

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

}  // namespace

std::vector<FieldText> TextsOf(std::string_view value, const TextConfig& config) {
  std::vector<FieldText> texts;
  if (config.fields.empty()) {
    for (std::string& text : json::StringsIn(value)) texts.push_back({0, std::move(text)});
    return texts;
  }
  for (std::size_t field = 0; field < config.fields.size(); ++field) {
    Result<std::vector<std::string>> found = json::TextsAtPath(value, config.fields[field].path);
    if (!found) continue;  // too much to be text
    for (std::string& text : *found) texts.push_back({field, std::move(text)});
  }
  return texts;
}

TextEntry MakeTextEntry(std::string_view value, const TextConfig& config) {
  RecordBuilder builder(config.language);
  for (const FieldText& text : TextsOf(value, config)) {
    const bool has_weight = config.fields.empty() || config.fields[text.field].weight > 0;
    builder.Add(static_cast<std::uint32_t>(text.field), has_weight, text.text);
  }
  TextEntry entry = builder.Take(NameTokens(FirstTextAt(value, config.speaker), config.language));
  entry.group = FirstTextAt(value, config.group);
  const std::string position = FirstTextAt(value, config.position);
  if (!position.empty() && json::Validate(position).ok()) entry.position = json::ToDouble(position);
  return entry;
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
  left_ = reader_.Varint();
}

bool RecordReader::Next() {
  if (left_ == 0) return false;
  --left_;
  token_ = reader_.Text();
  counts_.clear();
  for (std::uint64_t fields = reader_.Varint(); fields > 0 && reader_.ok(); --fields) {
    const std::uint64_t field = reader_.Varint();
    counts_.push_back({field, reader_.Varint()});
  }
  if (!reader_.ok()) left_ = 0;
  return reader_.ok();
}

double RecordReader::Weighted(const TextConfig& config) const {
  double weighted = 0;
  for (const auto& [field, occurrences] : counts_) {
    const double weight = field < config.fields.size() ? config.fields[field].weight : 1;
    weighted += weight * static_cast<double>(occurrences);
  }
  return weighted;
}

}  // namespace keepsake::search
