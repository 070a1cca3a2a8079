// What of an item's value is text, and how items belong together.
#ifndef KEEPSAKE_TEXT_CONFIG_H_
#define KEEPSAKE_TEXT_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace keepsake {

// Whose words are stemmed, and which say little. Of words in Latin letters; Cyrillic
// and scripts without spaces have their own rules whatever the language is.
// Persistent, never renumber.
enum class Language : std::uint8_t {
  kNone = 0,  // words stay as they are
  kEnglish = 1,
  kGerman = 2,
  kFrench = 3,
  kSpanish = 4,
  kItalian = 5,
  kPortuguese = 6,
};
inline constexpr Language kLastLanguage = Language::kPortuguese;

struct TextField {
  static constexpr double kMaxWeight = 100;

  std::string path;   // as of IndexConfig::fields
  double weight = 1;  // of its words, 0…100; at 0 only its dates count

  bool operator==(const TextField&) const = default;
};

// Other paths or another language than before make every text be analysed anew,
// other weights do not.
struct TextConfig {
  static constexpr std::size_t kMaxFields = 16;

  // Where a path is "", usual names are read: session, thread_id; speaker, author.
  std::vector<TextField> fields;  // none: every string of the value, dates by usual names
  std::string group;              // path of what an item is a part of: a session
  std::string position;           // path of its place there, a number; "": as it was first put
  std::string speaker;            // path of who says it, or whom it is about
  Language language = Language::kEnglish;

  bool operator==(const TextConfig&) const = default;
};

}  // namespace keepsake

#endif  // KEEPSAKE_TEXT_CONFIG_H_
