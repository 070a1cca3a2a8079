#include "text/text_record.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "json/json.h"
#include "json/path.h"
#include "json/strings.h"
#include "text/analysis.h"
#include "text/auto_fields.h"
#include "text/substring.h"
#include "text/word_list.h"

namespace keepsake::search {
namespace {

// What says how the assistant is to do things from now on.
constexpr std::string_view kStandingWords[] = {
    " always never prefer prefers preferred whenever immer nie bevorzuge "};
constexpr std::uint32_t kMostStandingWords = 60;
constexpr std::string_view kUsers = " user human ";
constexpr std::string_view kAssistants = " assistant ai model bot agent ";
// Where no field is named: that of dates. It has no weight.
constexpr std::uint32_t kDateField = TextConfig::kMaxFields - 1;

std::string Between(std::string_view word) { return ' ' + std::string(word) + ' '; }

std::uint64_t FlagsOfText(std::string_view text) {
  return text.contains('?') || text.contains("？") ? RecordReader::kAsks : 0;
}

// As the word is written, not as it is stemmed.
std::uint64_t FlagsOfWord(std::string_view word) {
  static const WordList standing(kStandingWords);
  return standing.GroupOf(word) > 0 ? RecordReader::kStands : 0;
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
      std::string written;
      if (token.kind == Token::Kind::kWord) {
        written = ToLowerAscii(text.substr(token.begin, token.end - token.begin));
        if (has_weight) flags |= FlagsOfWord(written);
      }
      const bool is_other = written != token.text && written.size() <= kMaxTokenBytes;
      Counts& counts = CountsOf(std::move(token.text));
      if (is_other) counts.written = std::move(written);
      // Places ascend: fields come in their order, and blocks do.
      const std::uint64_t place = counter_.block() * TextConfig::kMaxFields + field;
      if (counts.at.empty() || counts.at.back().place != place) counts.at.push_back({place, 0});
      ++counts.at.back().occurrences;
      counter_.Add(token, has_weight);
    }
    flags_ |= flags;
  }

  Bytes Take(std::string_view speaker, std::string_view role, std::string_view group,
             double position, bool is_talk) {
    flags_ |= FlagsOfRole(role) | (is_talk ? RecordReader::kSpoken : 0);
    if (counter_.words() > kMostStandingWords) flags_ &= ~RecordReader::kStands;
    Bytes record;
    AppendVarint(flags_, record);
    AppendVarint(counter_.words(), record);
    AppendText((flags_ & (RecordReader::kOfUser | RecordReader::kOfAssistant)) != 0 ? "" : speaker,
               record);
    AppendText(group, record);
    AppendU64(std::bit_cast<std::uint64_t>(position), record);
    AppendVarint(counts_.size(), record);
    for (const auto* token : in_order_) {
      const Counts& counts = token->second;
      AppendText(token->first, record);
      AppendText(counts.written, record);
      AppendVarint(counts.at.size(), record);
      for (const auto& [place, occurrences] : counts.at) {
        AppendVarint(place, record);
        AppendVarint(occurrences, record);
      }
    }
    return record;
  }

 private:
  struct Counts {
    std::string written;
    std::vector<RecordReader::PlaceCount> at;
  };

  Counts& CountsOf(std::string token) {
    const auto [known, is_new] = counts_.try_emplace(std::move(token));
    if (is_new) in_order_.push_back(&*known);
    return known->second;
  }

  Language language_;
  std::uint64_t flags_ = 0;
  BlockCounter counter_;
  std::unordered_map<std::string, Counts> counts_;
  std::vector<const std::pair<const std::string, Counts>*> in_order_;
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

Bytes MakeTextRecord(std::string_view value, const TextConfig& config, std::size_t most_bytes) {
  RecordBuilder builder(config.language);
  AutoFields known = AutoFieldsOf(value);
  std::size_t left = most_bytes;
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
                      known.role.empty() ? speaker : known.role, group, position,
                      known.is_talk || !speaker.empty());
}

FieldWeights WeightsOf(const TextConfig& config) {
  FieldWeights weights;
  for (std::size_t field = 0; field < weights.size(); ++field) {
    weights[field] = WeightOf(config, field);
  }
  return weights;
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

double RecordReader::Weighted(const FieldWeights& weights) const {
  double weighted = 0;
  for (const auto& [place, occurrences] : counts_) {
    weighted += weights[place % TextConfig::kMaxFields] * static_cast<double>(occurrences);
  }
  return weighted;
}

}  // namespace keepsake::search
