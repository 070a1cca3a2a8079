// How much one call may do for an index of texts. What is left over is done by the next ones,
// so that no call holds up everything else for long.
#ifndef KEEPSAKE_STORE_TEXT_WORK_H_
#define KEEPSAKE_STORE_TEXT_WORK_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "keepsake/status.h"

namespace keepsake {

class TextWork {
 public:
  // A few milliseconds' worth, for a step while nobody calls.
  static constexpr std::size_t kWhenIdle = 4096;

  // `left`: bytes of text that may be analysed, or nullopt for no limit. Borrowed.
  explicit TextWork(std::optional<std::size_t>& left) : left_(left), at_first_(left.value_or(0)) {}

  // Whether one more text, or record, may be worked on; it counts then.
  // A character that is a word by itself, as of Han, takes as long as one of many letters.
  bool Analyse(std::string_view value) {
    const auto is_long = [](char c) { return static_cast<unsigned char>(c) >= 0xE0; };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(value, is_long));
    return Take(value.size() + kOfCharacter * count);
  }
  bool Read(std::size_t bytes) { return Take(bytes / kReadsPerAnalysis); }

  // Whether so much was done that a search, which takes its time over many items, is to be a
  // call of its own.
  bool IsMostlyDone() const { return left_ && *left_ < at_first_ / 2; }

  static Status NotDone() {
    return {StatusCode::kIndexing, "the index of texts is being made: ask again"};
  }

 private:
  static constexpr std::size_t kOfEach = 64;
  static constexpr std::size_t kOfCharacter = 8;
  static constexpr std::size_t kReadsPerAnalysis = 2;

  bool Take(std::size_t bytes) {
    if (!left_) return true;
    if (*left_ == 0) return false;
    *left_ -= std::min(*left_, bytes + kOfEach);
    return true;
  }

  std::optional<std::size_t>& left_;
  std::size_t at_first_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_TEXT_WORK_H_
