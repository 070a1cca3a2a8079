// English, by Porter2: M. Porter, "The English (Porter2) stemming algorithm",
// snowballstem.org/algorithms/english/stemmer.html. Irregular forms become regular ones first: went
// is go.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "text/languages/language.h"
#include "text/word_list.h"

namespace keepsake::search {
namespace {

// A word and what stands for it.
struct Replacement {
  std::string_view from;
  std::string_view to;
};

// Looks for a word among those that are replaced.
template <std::size_t kCount>
class Replacements {
 public:
  explicit Replacements(const Replacement (&all)[kCount]) : all_(all), words_(FromsOf(all)) {}

  const Replacement* Find(std::string_view word) const {
    const std::uint32_t number = words_.GroupOf(word);
    return number == 0 ? nullptr : &all_[number - 1];
  }

 private:
  static std::array<std::string_view, kCount> FromsOf(const Replacement (&all)[kCount]) {
    std::array<std::string_view, kCount> froms;
    for (std::size_t i = 0; i < kCount; ++i) froms[i] = all[i].from;
    return froms;
  }

  const Replacement (&all_)[kCount];
  WordList words_;
};

// Irregular forms.
constexpr Replacement kIrregular[] = {
    {"ate", "eat"},
    {"became", "become"},
    {"began", "begin"},
    {"begun", "begin"},
    {"bitten", "bite"},
    {"blew", "blow"},
    {"bought", "buy"},
    {"broke", "break"},
    {"broken", "break"},
    {"brought", "bring"},
    {"built", "build"},
    {"came", "come"},
    {"caught", "catch"},
    {"children", "child"},
    {"chose", "choose"},
    {"chosen", "choose"},
    {"dealt", "deal"},
    {"did", "do"},
    {"does", "do"},
    {"done", "do"},
    {"drank", "drink"},
    {"drawn", "draw"},
    {"drew", "draw"},
    {"driven", "drive"},
    {"drove", "drive"},
    {"drunk", "drink"},
    {"eaten", "eat"},
    {"fallen", "fall"},
    {"favourite", "favorite"},
    {"feet", "foot"},
    {"fell", "fall"},
    {"felt", "feel"},
    {"flew", "fly"},
    {"flown", "fly"},
    {"forgot", "forget"},
    {"forgotten", "forget"},
    {"fought", "fight"},
    {"found", "find"},
    {"froze", "freeze"},
    {"frozen", "freeze"},
    {"gave", "give"},
    {"given", "give"},
    {"goes", "go"},
    {"gone", "go"},
    {"got", "get"},
    {"gotten", "get"},
    {"grew", "grow"},
    {"grown", "grow"},
    {"heard", "hear"},
    {"held", "hold"},
    {"hid", "hide"},
    {"hidden", "hide"},
    {"kept", "keep"},
    {"knew", "know"},
    {"knives", "knife"},
    {"known", "know"},
    {"led", "lead"},
    {"lent", "lend"},
    {"lost", "lose"},
    {"made", "make"},
    {"meant", "mean"},
    {"men", "man"},
    {"met", "meet"},
    {"mice", "mouse"},
    {"paid", "pay"},
    {"people", "person"},
    {"ran", "run"},
    {"ridden", "ride"},
    {"risen", "rise"},
    {"rode", "ride"},
    {"said", "say"},
    {"sang", "sing"},
    {"sat", "sit"},
    {"saw", "see"},
    {"seen", "see"},
    {"sent", "send"},
    {"shaken", "shake"},
    {"shook", "shake"},
    {"shown", "show"},
    {"slept", "sleep"},
    {"sold", "sell"},
    {"sought", "seek"},
    {"spent", "spend"},
    {"spoke", "speak"},
    {"spoken", "speak"},
    {"stole", "steal"},
    {"stolen", "steal"},
    {"stood", "stand"},
    {"stuck", "stick"},
    {"sung", "sing"},
    {"swam", "swim"},
    {"swum", "swim"},
    {"taken", "take"},
    {"taught", "teach"},
    {"teeth", "tooth"},
    {"thought", "think"},
    {"told", "tell"},
    {"took", "take"},
    {"understood", "understand"},
    {"went", "go"},
    {"wives", "wife"},
    {"woke", "wake"},
    {"woken", "wake"},
    {"women", "woman"},
    {"won", "win"},
    {"wore", "wear"},
    {"worn", "wear"},
    {"written", "write"},
    {"wrote", "write"},
};

constexpr Replacement kExceptions[] = {
    {"andes", "andes"},  {"atlas", "atlas"}, {"bias", "bias"},    {"cosmos", "cosmos"},
    {"dying", "die"},    {"early", "earli"}, {"gently", "gentl"}, {"howe", "howe"},
    {"idly", "idl"},     {"lying", "lie"},   {"news", "news"},    {"only", "onli"},
    {"singly", "singl"}, {"skies", "sky"},   {"skis", "ski"},     {"sky", "sky"},
    {"tying", "tie"},    {"ugly", "ugli"},
};

// Final after the plural has gone.
constexpr std::string_view kInvariant[] = {"inning",  "outing",  "canning", "herring",
                                           "earring", "proceed", "exceed",  "succeed"};

// The steps of Porter2, named as in its description. A `y` that is a consonant is
// written `Y` while they run.
class Porter2 {
 public:
  explicit Porter2(std::string& word) : word_(word) {}

  void Run() {
    if (word_.size() <= 2) return;
    static const Replacements exceptions(kExceptions);
    if (const Replacement* exception = exceptions.Find(word_)) {
      word_ = exception->to;
      return;
    }
    MarkConsonantY();
    FindRegions();
    Step1a();
    if (std::ranges::find(kInvariant, word_) == std::end(kInvariant)) {
      Step1b();
      Step1c();
      Step2();
      Step3();
      Step4();
      Step5();
    }
    std::ranges::replace(word_, 'Y', 'y');
  }

 private:
  static bool IsVowel(char c) { return std::string_view("aeiouy").contains(c); }

  void MarkConsonantY() {
    for (std::size_t i = 0; i < word_.size(); ++i) {
      if (word_[i] == 'y' && (i == 0 || IsVowel(word_[i - 1]))) word_[i] = 'Y';
    }
  }

  // Behind the first consonant that follows a vowel, from `begin` on.
  std::size_t RegionAfter(std::size_t begin) const {
    for (std::size_t i = begin + 1; i < word_.size(); ++i) {
      if (!IsVowel(word_[i]) && IsVowel(word_[i - 1])) return i + 1;
    }
    return word_.size();
  }

  void FindRegions() {
    r1_ = RegionAfter(0);
    for (std::string_view prefix : {"gener", "commun", "arsen"}) {
      if (word_.starts_with(prefix)) r1_ = prefix.size();
    }
    r2_ = r1_ < word_.size() ? RegionAfter(r1_) : word_.size();
  }

  // Most words end with another letter.
  bool Ends(std::string_view suffix) const {
    return !word_.empty() && word_.back() == suffix.back() && word_.ends_with(suffix);
  }
  bool InR1(std::string_view suffix) const { return word_.size() - suffix.size() >= r1_; }
  bool InR2(std::string_view suffix) const { return word_.size() - suffix.size() >= r2_; }
  void Cut(std::size_t count) { word_.resize(word_.size() - count); }
  void Replace(std::string_view suffix, std::string_view with) {
    Cut(suffix.size());
    word_ += with;
  }

  bool HasVowelBefore(std::size_t end) const {
    return std::any_of(word_.begin(), word_.begin() + static_cast<std::ptrdiff_t>(end), IsVowel);
  }

  bool EndsInShortSyllable(std::size_t end) const {
    if (end == 2) return IsVowel(word_[0]) && !IsVowel(word_[1]);
    if (end < 3) return false;
    const char last = word_[end - 1];
    return !IsVowel(word_[end - 3]) && IsVowel(word_[end - 2]) && !IsVowel(last) && last != 'w' &&
           last != 'x' && last != 'Y';
  }
  bool IsShort() const { return r1_ >= word_.size() && EndsInShortSyllable(word_.size()); }

  bool EndsInDouble() const {
    const std::size_t n = word_.size();
    return n >= 2 && word_[n - 1] == word_[n - 2] &&
           std::string_view("bdfgmnprt").contains(word_[n - 1]);
  }

  void Step1a() {
    if (Ends("sses")) return Cut(2);
    if (Ends("ied") || Ends("ies")) return Cut(word_.size() > 4 ? 2 : 1);
    if (!Ends("s") || Ends("us") || Ends("ss")) return;
    if (word_.size() >= 2 && HasVowelBefore(word_.size() - 2)) Cut(1);
  }

  void Step1b() {
    for (std::string_view suffix : {"eedly", "eed"}) {
      if (!Ends(suffix)) continue;
      if (InR1(suffix)) Replace(suffix, "ee");
      return;
    }
    for (std::string_view suffix : {"ingly", "edly", "ing", "ed"}) {
      if (!Ends(suffix)) continue;
      if (!HasVowelBefore(word_.size() - suffix.size())) return;
      Cut(suffix.size());
      if (Ends("at") || Ends("bl") || Ends("iz")) {
        word_ += 'e';
      } else if (EndsInDouble()) {
        Cut(1);
      } else if (IsShort()) {
        word_ += 'e';
      }
      return;
    }
  }

  void Step1c() {
    const std::size_t n = word_.size();
    if (n > 2 && (word_[n - 1] == 'y' || word_[n - 1] == 'Y') && !IsVowel(word_[n - 2])) {
      word_[n - 1] = 'i';
    }
  }

  // The longest of the suffixes decides, in R1 or not. They come longest first.
  template <typename Apply>
  void ReplaceLongest(std::span<const Replacement> suffixes, Apply apply) {
    for (const Replacement& suffix : suffixes) {
      if (Ends(suffix.from)) return apply(suffix);
    }
  }

  void Step2() {
    static constexpr Replacement kSuffixes[] = {
        {"ization", "ize"}, {"ational", "ate"}, {"fulness", "ful"}, {"ousness", "ous"},
        {"iveness", "ive"}, {"tional", "tion"}, {"biliti", "ble"},  {"lessli", "less"},
        {"entli", "ent"},   {"ation", "ate"},   {"alism", "al"},    {"aliti", "al"},
        {"ousli", "ous"},   {"iviti", "ive"},   {"fulli", "ful"},   {"enci", "ence"},
        {"anci", "ance"},   {"abli", "able"},   {"izer", "ize"},    {"ator", "ate"},
        {"alli", "al"},     {"bli", "ble"},     {"ogi", "og"},      {"li", ""}};
    ReplaceLongest(kSuffixes, [&](const Replacement& suffix) {
      if (!InR1(suffix.from)) return;
      const std::size_t stem = word_.size() - suffix.from.size();
      const char before = stem > 0 ? word_[stem - 1] : ' ';
      if (suffix.from == "ogi" && before != 'l') return;
      if (suffix.from == "li" && !std::string_view("cdeghkmnrt").contains(before)) return;
      Replace(suffix.from, suffix.to);
    });
  }

  void Step3() {
    static constexpr Replacement kSuffixes[] = {
        {"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"},
        {"ative", ""},      {"ical", "ic"},     {"ness", ""},    {"ful", ""}};
    ReplaceLongest(kSuffixes, [&](const Replacement& suffix) {
      if (suffix.from == "ative" ? InR2(suffix.from) : InR1(suffix.from)) {
        Replace(suffix.from, suffix.to);
      }
    });
  }

  void Step4() {
    static constexpr Replacement kSuffixes[] = {
        {"ement", ""}, {"ance", ""}, {"ence", ""}, {"able", ""}, {"ible", ""}, {"ment", ""},
        {"ant", ""},   {"ent", ""},  {"ism", ""},  {"ate", ""},  {"iti", ""},  {"ous", ""},
        {"ive", ""},   {"ize", ""},  {"ion", ""},  {"al", ""},   {"er", ""},   {"ic", ""}};
    ReplaceLongest(kSuffixes, [&](const Replacement& suffix) {
      if (!InR2(suffix.from)) return;
      const std::size_t stem = word_.size() - suffix.from.size();
      if (suffix.from == "ion" && (stem == 0 || (word_[stem - 1] != 's' && word_[stem - 1] != 't')))
        return;
      Cut(suffix.from.size());
    });
  }

  void Step5() {
    if (Ends("e")) {
      if (InR2("e") || (InR1("e") && !EndsInShortSyllable(word_.size() - 1))) Cut(1);
    } else if (Ends("ll") && InR2("l")) {
      Cut(1);
    }
  }

  std::string& word_;
  std::size_t r1_ = 0;
  std::size_t r2_ = 0;
};

void StemEnglish(std::string& word) {
  static const Replacements irregular(kIrregular);
  if (const Replacement* regular = irregular.Find(word)) word = regular->to;
  Porter2(word).Run();
}

constexpr RelativeDate kRelativeDates[] = {
    {"day before yesterday", DateUnit::kDay, -2},
    {"today", DateUnit::kDay, 0},
    {"this morning", DateUnit::kDay, 0},
    {"tonight", DateUnit::kDay, 0},
    {"yesterday", DateUnit::kDay, -1},
    {"last night", DateUnit::kDay, -1},
    {"this week", DateUnit::kWeek, 0},
    {"last week", DateUnit::kWeek, -1},
    {"last weekend", DateUnit::kWeekend, -1},
    {"this month", DateUnit::kMonth, 0},
    {"last month", DateUnit::kMonth, -1},
    {"this year", DateUnit::kYear, 0},
    {"last year", DateUnit::kYear, -1},
};

constexpr std::string_view kOfUser[] = {" i ", " i'", " my ", " me ", " mine "};

}  // namespace

constinit const LanguageWords kEnglishWords = {
    .stop_words =
        " a about above after again against all am an and any are arent as at be because been "
        "before "
        "being below between both but by can cannot cant could couldnt did didnt do does doesnt "
        "doing "
        "dont down during each either else few for from further had hadnt has hasnt have havent "
        "having he hed her here heres hers herself hes him himself his how hows i id if ill im in "
        "into is isnt it its itself ive let lets likely many me might more most much mustnt my "
        "myself "
        "no nor not of off on once only or other ought our ours ourselves out over own per please "
        "same shall shant she shed shes should shouldnt so some such than that thats the their "
        "theirs "
        "them themselves then there theres these they theyd theyll theyre theyve this those "
        "through "
        "to too under until up upon us very was wasnt we wed were werent weve what whats when "
        "whens "
        "where wheres whether which while who whom whos whose why will with wont would wouldnt you "
        "youd youll your youre yours yourself yourselves youve ",
    .asking =
        " concern describe detail discuss discussion elaborate expand explain fact gist highlight "
        "info "
        "information lowdown mention overview recall recap refresh regard regarding remember "
        "remind "
        "reminder rundown specify summarise summarize summary tell told ",
    .talk =
        " absolute absolutely acknowledge actually aforementioned agree agreed ah aha ahead ai ain "
        "alas almost already alright also although always amazing among answer anybody anyhow "
        "anyone "
        "anything anyway anywhere apologise apologize apology apparently appreciate ask assistant "
        "aware awesome aww back background basically before beside besides bit bitte bless bonjour "
        "bot bravo brb brief briefly brilliant btw buddy bye carry certain certainly chat cheer "
        "cheers ciao clarification clarify clearly clever confirm confirmation congrats "
        "congratulation congratulations context continue conversation cool correct curious dank "
        "danke "
        "deal definitely disagree dude dunno earlier eh else enough even ever every everyone "
        "everything everywhere exactly example excellent excuse fabulous fair familiar fantastic "
        "far "
        "farewell fine forgive frankly funny fyi glad gonna good goodbye goodnight got gotcha "
        "gotta "
        "gracias great greeting guess ha haha hahaha hallo hardly hehe hello help helped helpful "
        "hence hey hi hilarious hiya hm hmm hola honestly howdy however huh hurray idk impress "
        "impressive indeed instead interesting joke just kind knew know known lately later latest "
        "literally lmao lol lot lovely maam magnificent marvellous mate maybe mean meh memory "
        "merci "
        "nah neat never nevermind nice nobody none nope nothing now nowhere np obrigado obviously "
        "often oh ok okay omg one ones ooh oops ouch pal pardon per perfect perhaps phew piece "
        "pleasure pls plus plz point previous previously probably proceed question quick quickly "
        "quite rather really recent recently refer regards relate relation rephrase rerun respect "
        "retry rofl roger said salut say scoop sense seriously several sincerely so somebody "
        "someone "
        "something sometimes somewhere soon sorry speak splendid spoke spoken still stuff subject "
        "super superb suppose sure surely tad talk talked terrific thank thanks thankyou therefore "
        "thing think though thought thus thx topic toward towards true truly ty ugh uh um "
        "understand "
        "understood unless update useful via wanna welcome well whatever whenever whoops within "
        "without wonder wonderful wondering wow yay yea yeah yep yes yet yikes yup ",
    .vague =
        " afternoon another around away bad begin believe best better bother bring call care case "
        "catch change check choose come day deal different done end evening feel fill find first "
        "fit "
        "fun get give go guy hang happen happy have hear heard hold hope idea inform keep last "
        "laugh "
        "learn leave let life like list little long look lot love make man matter mind minute "
        "moment "
        "morning need new next night note noted order part people person pick problem pull put "
        "ready "
        "real reason reference repeat right same save saved search second see seem share show "
        "small "
        "sort speed start stop store stored take thing time today tomorrow tonight trouble true "
        "try "
        "turn type wait want way week weekend whole world worry wrong ",
    .common =
        " book buy child city country currently drink eat family favorite favourite food friend "
        "home "
        "house job live money month name number old pay phone place plan play read run school "
        "start "
        "use usually word work write year ",
    .asks_for =
        " accord across aspect bring comprehens convers describ differ discuss give item kind list "
        "mention name order provid sort summari talk tell thing throughout type walk ",
    .numerals = {"", " two twice ", " three ", " four ", " five ", " six ", " seven ", " eight ",
                 " nine ", " ten ", " eleven ", " twelve "},
    .stem = StemEnglish,
    .somebody = " he her hers him his our she their them they us we ",
    .question_words = " how what when where which who whose why ",
    .of_user = kOfUser,
    .months = {" january jan ", " february feb ", " march mar ", " april apr ", " may ",
               " june jun ", " july jul ", " august aug ", " september sep sept ", " october oct ",
               " november nov ", " december dec "},
    .before_month = " in since during until by of last this next early late mid ",
    .weekdays = {" monday mondays ", " tuesday tuesdays ", " wednesday wednesdays ",
                 " thursday thursdays ", " friday fridays ", " saturday saturdays ",
                 " sunday sundays "},
    .last_before = " last past ",
    .relative_dates = kRelativeDates,
    .counts = {" a an one ", " two ", " three ", " four ", " five ", " six ", " seven ", " eight ",
               " nine ", " ten ", " eleven ", " twelve "},
    .units = {" day days ", " week weeks ", " month months ", " year years "},
    .behind_ago = " ago ",
};

}  // namespace keepsake::search
