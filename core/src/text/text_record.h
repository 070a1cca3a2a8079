// What a store keeps of an item's text: counts, to score it by. The text itself is
// in the value.
//
//   record  := flags:varint length:varint speaker:text count:varint token*
//   token   := token:text count:varint field_count*   sorted by token, distinct
//   field_count := field:varint occurrences:varint
//   text    := length:varint byte*
//
// flags: 1 asks (has a question mark), 2 tells a time (yesterday, 2022), 4 tells a
// number. length counts words, but for stop words and
// fields without weight. Persistent together with
// kAnalysisVersion.
#ifndef KEEPSAKE_TEXT_TEXT_RECORD_H_
#define KEEPSAKE_TEXT_TEXT_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/varint.h"
#include "keepsake/bytes.h"
#include "keepsake/text_config.h"

namespace keepsake::search {

// The text of an item, ready to be stored.
struct TextEntry {
  Bytes record;
  std::vector<std::string> tokens;  // distinct, sorted: what the item is found by
  std::uint32_t length = 0;         // words
  std::string group;                // "" if it belongs to none
  double position = 0;              // in its group
};

// The entry of a value: it has no tokens if the value has no text. REQUIRES: `value`
// is valid JSON.
TextEntry MakeTextEntry(std::string_view value, const TextConfig& config);

// The texts of a value, each with the number of its field.
struct FieldText {
  std::size_t field;
  std::string text;
};
std::vector<FieldText> TextsOf(std::string_view value, const TextConfig& config);

// Names what tokens and records are made by: what is stored under another name must
// be made anew.
std::string FingerprintOf(const TextConfig& config);

// Reads a record token by token. A damaged one ends early.
class RecordReader {
 public:
  explicit RecordReader(ByteView record);

  bool asks() const { return (flags_ & kAsks) != 0; }
  bool tells_time() const { return (flags_ & kTellsTime) != 0; }
  bool tells_number() const { return (flags_ & kTellsNumber) != 0; }
  std::uint32_t length() const { return length_; }
  std::string_view speaker() const { return speaker_; }

  bool Next();
  std::string_view token() const { return token_; }
  // Its occurrences, each counted by the weight of its field.
  double Weighted(const TextConfig& config) const;

  static constexpr std::uint64_t kAsks = 1, kTellsTime = 2, kTellsNumber = 4;

 private:
  struct FieldCount {
    std::uint64_t field;
    std::uint64_t occurrences;
  };

  ByteReader reader_;
  std::uint64_t flags_;
  std::uint32_t length_;
  std::string_view speaker_;
  std::uint64_t left_;
  std::string_view token_;
  std::vector<FieldCount> counts_;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TEXT_RECORD_H_
