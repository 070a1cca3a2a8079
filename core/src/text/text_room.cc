#include "text/text_room.h"

#include <algorithm>

#include "base/answer_room.h"
#include "text/text_record.h"

namespace keepsake::search {
namespace {

// What a word takes at most while a value is analysed, what a different one takes beside it, and
// what a byte of the value does.
constexpr std::uint64_t kPerWord = 80, kPerDifferentWord = 320, kPerByte = 16;
// There are so many different words of up to three letters or digits; others, and pairs of
// characters, take so many bytes of a text.
constexpr std::uint64_t kShortWords = 50'000, kBytesOfOther = 3;
// So much is asked for at least, so that few of many small texts ask.
constexpr std::uint64_t kAtOnce = std::uint64_t{2} << 20;
// What others do with what is left.
constexpr std::uint64_t kLeft = std::uint64_t{4} << 20;

// Letters and digits are told apart from the rest as far as ASCII goes. Elsewhere each
// character may be a word, and two of them another.
std::uint64_t MostWordsIn(std::string_view text) {
  std::uint64_t words = 0;
  bool is_within = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const unsigned char lower = byte | 0x20;
    const bool is_letter = (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9');
    if (byte >= 0xc0) words += 2;
    if (is_letter && !is_within) ++words;
    is_within = is_letter;
  }
  return words;
}

}  // namespace

Status TextRoom::TakeValue(std::string_view value) {
  const std::uint64_t text = std::min<std::uint64_t>(value.size(), kMostTextBytes);
  const std::uint64_t words = std::min(MostWordsIn(value), text);
  const std::uint64_t different = std::min(words, kShortWords + text / kBytesOfOther);
  return Take(kPerWord * words + kPerDifferentWord * different + kPerByte * value.size());
}

Status TextRoom::Take(std::uint64_t bytes) {
  if (bytes > found_) {
    const std::uint64_t wanted = std::max(bytes, kAtOnce);
    const Status status = FindRoom(wanted + kLeft);
    if (!status.ok()) return status;
    found_ = wanted;
  }
  found_ -= bytes;
  return {};
}

}  // namespace keepsake::search
