// Scripts that are told by their characters, so that they have their rules whatever language a
// store was opened for: Cyrillic, Arabic, those without spaces, and emoji.
#ifndef KEEPSAKE_TEXT_LANGUAGES_OTHER_SCRIPTS_H_
#define KEEPSAKE_TEXT_LANGUAGES_OTHER_SCRIPTS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "text/languages/language.h"

namespace keepsake::search {

// False, and nothing is done, if the word is in none of them that has endings or articles.
bool StemOtherScript(std::string& word);

bool IsStopWordOfOtherScript(std::string_view word);
// 的, は: characters that join others.
bool IsStopCharacter(char32_t code_point);
// Commonness::kTalk of a character, or a pair of such.
bool IsTalkOfOtherScript(std::string_view stem);

// Where a question is about who asks.
inline constexpr std::string_view kOfUserSign = "我";

// 昨天: wherever they stand. What is in another one comes behind it.
std::span<const RelativeDate> RelativeDateSigns();
// 上周, before the sign of a weekday.
std::span<const std::string_view> LastWeekSigns();
// Of 三 in 上周三 2, from Monday on, if the text begins so.
std::optional<int> WeekdayOfSign(std::string_view text);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_LANGUAGES_OTHER_SCRIPTS_H_
