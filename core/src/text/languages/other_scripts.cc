#include "text/languages/other_scripts.h"

#include <array>
#include <span>

#include "text/word_list.h"

namespace keepsake::search {
namespace {

// Pairs and single characters of Chinese.
constexpr std::string_view kUnspacedTalk =
    " 一下 一个 一些 下 不客 不错 个 为 为什 么 么样 之前 了解 事 "
    "事情 些 什 什么 今天 介绍 他们 以前 任何 会 但是 你们 你好 "
    "信息 关于 其实 再 再见 几 到 厉害 去 又 可 可以 告诉 呵呵 "
    "哈哈 哦 哪 哪儿 哪里 嗯 嘿嘿 回忆 因为 多 多谢 大家 太 太好 "
    "好 好吧 好的 如果 客气 对 对不 帮 帮助 当然 很 怎 怎么 怎样 "
    "总结 您 您好 想 想起 意思 感谢 我们 所以 抱歉 拜拜 提 提到 "
    "提过 收到 早上 早安 明白 是否 晚上 晚安 曾经 有关 有没 有趣 "
    "来 棒 概括 没 没事 没有 然后 现在 真 真棒 真的 知道 笑话 给 "
    "聊 聊聊 聊过 能 能不 能否 行 要 觉得 认为 让 记得 讲 讲讲 说 "
    "说说 说过 请 请问 谁 谈 谈谈 谈过 谢 谢谢 还 还有 这个 那个 "
    "里 问 非常 ";

// Those that answer rather than name.
constexpr std::string_view kEmojiTalk =
    " ✅ ❤ 🎉 👋 👌 👍 👏 💪 💯 🔥 😀 😁 😂 😃 😄 😅 😆 "
    "😇 😉 😊 😍 😎 😘 😢 😭 🙂 🙌 🙏 🤔 🤗 🤣 🥰 ";

constexpr std::string_view kRussian =
    " а без был была были было быть в вам вас весь во вот все всего вы где да для до "
    "его ее если есть еще же за и из или им их к как какои когда кто ли либо мне может "
    "мы на над нам нас не него нее нет ни них но о об он она они оно от по под при с "
    "со так также там те то тот ты у уже что чтобы эта это этот я ";

constexpr std::u32string_view kCharacters =
    U"的了是在和有我你他她它们们吗呢吧啊们这那就都也不着过被把给跟与及或之其于个はがをにのともでへ"
    U"やかね";

constexpr RelativeDate kSigns[] = {
    {"今天", DateUnit::kDay, 0},      {"昨天", DateUnit::kDay, -1},
    {"前天", DateUnit::kDay, -2},     {"这周", DateUnit::kWeek, 0},
    {"本周", DateUnit::kWeek, 0},     {"上周末", DateUnit::kWeekend, -1},
    {"上周", DateUnit::kWeek, -1},    {"上星期", DateUnit::kWeek, -1},
    {"这个月", DateUnit::kMonth, 0},  {"本月", DateUnit::kMonth, 0},
    {"上个月", DateUnit::kMonth, -1}, {"上月", DateUnit::kMonth, -1},
    {"今年", DateUnit::kYear, 0},     {"去年", DateUnit::kYear, -1},
};

constexpr std::string_view kLastWeeks[] = {"上周", "上星期", "上个星期", "上礼拜", "上週"};
// Behind 周; the last two are Sunday.
constexpr std::string_view kWeekdays[] = {"一", "二", "三", "四", "五", "六", "日", "天"};

// Two bytes a letter; й has been folded to и.
void StemCyrillic(std::string& word) {
  CutEnding(word, 6, {"иями", "ями", "ами", "ыми", "ими", "ого", "его", "ому", "ему", "иях", "ях",
                      "ах",   "ов",  "ев",  "ом",  "ем",  "ам",  "ям",  "ая",  "яя",  "ое",  "ее",
                      "ые",   "ие",  "ыи",  "ии",  "ои",  "еи",  "их",  "ых",  "ую",  "юю",  "ью",
                      "ия",   "а",   "е",   "и",   "о",   "у",   "ы",   "ь",   "ю",   "я"});
}

// The article, also behind "and", "with", "like" and "so", and what it becomes behind "to".
// Two bytes a letter, two letters at least stay.
void CutArabicArticle(std::string& word) {
  constexpr std::string_view kArticles[] = {"وال", "بال", "كال", "فال", "لل", "ال"};
  constexpr std::size_t kLeastLeft = 4;
  for (const std::string_view article : kArticles) {
    if (!word.starts_with(article)) continue;
    if (word.size() >= article.size() + kLeastLeft) word.erase(0, article.size());
    return;
  }
}

bool IsArabic(std::string_view word) {
  return word.size() >= 2 && word[0] >= '\xD8' && word[0] <= '\xDB';
}

bool IsCyrillic(std::string_view word) {
  return word.size() >= 2 && (word[0] == '\xD0' || word[0] == '\xD1');
}

}  // namespace

bool StemOtherScript(std::string& word) {
  if (IsCyrillic(word)) {
    StemCyrillic(word);
    return true;
  }
  if (IsArabic(word)) CutArabicArticle(word);
  return IsArabic(word);
}

bool IsStopWordOfOtherScript(std::string_view word) {
  static const WordList list(std::span(&kRussian, 1));
  return list.GroupOf(word) > 0;
}

bool IsStopCharacter(char32_t code_point) { return kCharacters.contains(code_point); }

bool IsTalkOfOtherScript(std::string_view stem) {
  static constexpr std::string_view kGroups[] = {kUnspacedTalk, kEmojiTalk};
  static const WordList list(kGroups);
  return list.GroupOf(stem) > 0;
}

std::span<const RelativeDate> RelativeDateSigns() { return kSigns; }
std::span<const std::string_view> LastWeekSigns() { return kLastWeeks; }

std::optional<int> WeekdayOfSign(std::string_view text) {
  constexpr int kSunday = 6;
  for (int i = 0; i < std::ssize(kWeekdays); ++i) {
    if (text.starts_with(kWeekdays[i])) return std::min(i, kSunday);
  }
  return std::nullopt;
}

}  // namespace keepsake::search
