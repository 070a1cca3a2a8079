// What is made of an item's text: counts, to score it by, which a TextSegment takes over.
//
//   record := flags:varint length:varint speaker:text group:text position:u64
//             count:varint token*
//   token  := token:text written:text count:varint (place:varint occurrences:varint)*
//             distinct, in the order in which the texts have them
//   text   := length:varint byte*
//
// flags: 1 asks (has a question mark), 2 the user says it, 4 the assistant does, 8 a wish that
// stands (always, never), 16 somebody speaks in it.
// length counts words, but for stop words and fields without weight. position is a double's
// bits. written is the word as it is written, if its stem is another. A place is
// kMaxFields * block + field: a block has kBlockWords words that length counts.
// Tokens and places are persistent together with kAnalysisVersion.
#ifndef KEEPSAKE_TEXT_TEXT_RECORD_H_
#define KEEPSAKE_TEXT_TEXT_RECORD_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/varint.h"
#include "keepsake/bytes.h"
#include "keepsake/text_config.h"
#include "text/analysis.h"

namespace keepsake::search {

inline constexpr std::uint32_t kBlockWords = 20;
// A passage has so many blocks.
inline constexpr std::uint32_t kPassageBlocks = 3;

// Tells in which block of its item a token is. Tokens are added in the order of the texts.
class BlockCounter {
 public:
  std::uint32_t block() const { return words_ / kBlockWords; }
  std::uint32_t words() const { return words_; }
  void Add(const Token& token, bool has_weight);

 private:
  std::uint32_t words_ = 0;
};

// Of an item's texts so much is read for its words, in their order: one item must not take the
// memory that all others are searched with. An isolate has less of it.
#if defined(KEEPSAKE_HOST_SQL)
inline constexpr std::size_t kMostTextBytes = std::size_t{512} << 10;
#else
inline constexpr std::size_t kMostTextBytes = std::size_t{4} << 20;
#endif

// What an item is about its first bytes tell.
inline constexpr std::size_t kTellingBytes = std::size_t{16} << 10;

// The record of a value, of so much of its texts: it has no tokens if the value has no text.
// REQUIRES: `value` is valid JSON.
Bytes MakeTextRecord(std::string_view value, const TextConfig& config,
                     std::size_t most_bytes = kMostTextBytes);

// The texts of a value, each with the number of its field.
struct FieldText {
  std::size_t field;
  std::string text;
};
std::vector<FieldText> TextsOf(std::string_view value, const TextConfig& config);
bool HasWeight(const FieldText& text, const TextConfig& config);

// Names what tokens and records are made by: what is stored under another name must
// be made anew.
std::string FingerprintOf(const TextConfig& config);

// By the number of a field.
using FieldWeights = std::array<double, TextConfig::kMaxFields>;
FieldWeights WeightsOf(const TextConfig& config);

// Reads a record token by token. A damaged one ends early.
class RecordReader {
 public:
  explicit RecordReader(ByteView record);

  std::uint64_t flags() const { return flags_; }
  std::uint32_t length() const { return length_; }
  std::string_view speaker() const { return speaker_; }
  std::string_view group() const { return group_; }
  double position() const { return position_; }

  bool Next();
  std::string_view token() const { return token_; }
  std::string_view written() const { return written_; }  // "" if it is the token
  struct PlaceCount {
    std::uint64_t place;
    std::uint64_t occurrences;
  };
  std::span<const PlaceCount> places() const { return counts_; }
  // Its occurrences, each counted by the weight of its field.
  double Weighted(const FieldWeights& weights) const;

  static constexpr std::uint64_t kAsks = 1, kOfUser = 2, kOfAssistant = 4, kStands = 8,
                                 kSpoken = 16;

 private:
  ByteReader reader_;
  std::uint64_t flags_;
  std::uint32_t length_;
  std::string_view speaker_;
  std::string_view group_;
  double position_;
  std::uint64_t left_;
  std::string_view token_;
  std::string_view written_;
  std::vector<PlaceCount> counts_;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TEXT_RECORD_H_
