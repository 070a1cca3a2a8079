#include "text/stop_words.h"

#include <span>

#include "text/word_list.h"

namespace keepsake::search {
namespace {

// Each word between two spaces.
constexpr std::string_view kEnglish =
    " a about above after again against all am an and any are arent as at be because "
    "been before being below between both but by can cannot cant could couldnt did "
    "didnt do does doesnt doing dont down during each either else few for from further "
    "had hadnt has hasnt have havent having he hed her here heres hers herself hes him "
    "himself his how hows i id if ill im in into is isnt it its itself ive let lets "
    "likely many me might more most much mustnt my myself no nor not of off on once only or "
    "other ought our ours ourselves out over own per please same shall shant she shed "
    "shes should shouldnt so some such than that thats the their theirs them "
    "themselves then there theres these they theyd theyll theyre theyve this those "
    "through to too under until up upon us very was wasnt we wed were werent weve what "
    "whats when whens where wheres whether which while who whom whos whose why will "
    "with wont would wouldnt you youd youll your youre yours yourself yourselves youve ";

constexpr std::string_view kGerman =
    " aber als am an auch auf aus bei bin bis da das dass dem den der des die dir doch "
    "du durch ein eine einem einen einer eines er es fur habe haben hat hatte ich ihr "
    "im in ist ja kann mein mich mir mit nach nicht noch nur ob oder sein sich sie "
    "sind so uber um und uns von vor war was welche wenn wer wie wir wird wo zu zum "
    "zur ";

constexpr std::string_view kFrench =
    " a ai as au aux avec ce ces cette comment dans de des du elle en es est et etait "
    "eu il ils je la le les leur lui ma mais me mes moi mon ne nos notre nous on ont "
    "ou par pas pour qu quand que quel quelle qui sa se ses son sont sur ta te tes toi "
    "ton tu un une vos votre vous y ";

constexpr std::string_view kSpanish =
    " a al como con cual cuando de del donde el ella ellos en era es esta este esto ha "
    "han hay la las le les lo los me mi mis muy no nos o para pero por que quien se "
    "ser si sin sobre son su sus te tu un una uno y ya yo ";

constexpr std::string_view kItalian =
    " a ai al alla anche che chi ci come con cosa da dal de dei del della di do dove e "
    "era gli ha hai ho i il in io la le lei li lo lui ma mi mia mio ne nel nella no "
    "noi non o per piu quale quando se si sono sua suo tu un una uno voi ";

constexpr std::string_view kPortuguese =
    " a ao aos as com como da das de do dos e ela ele em era essa esse esta este eu foi "
    "ha isso ja la mais mas me meu minha na nao nas no nos o onde os ou para pela pelo "
    "por qual quando que quem sao se sem ser seu so sua tem um uma voce ";

constexpr std::string_view kRussian =
    " а без был была были было быть в вам вас весь во вот все всего вы где да для до "
    "его ее если есть еще же за и из или им их к как какои когда кто ли либо мне может "
    "мы на над нам нас не него нее нет ни них но о об он она они оно от по под при с "
    "со так также там те то тот ты у уже что чтобы эта это этот я ";

constexpr std::u32string_view kCharacters =
    U"的了是在和有我你他她它们们吗呢吧啊们这那就都也不着过被把给跟与及或之其于个はがをにのともでへ"
    U"やかね";

template <const std::string_view& kWords>
bool IsAmong(std::string_view word) {
  static const WordList list(std::span(&kWords, 1));
  return list.GroupOf(word) > 0;
}

}  // namespace

bool IsStopWord(std::string_view word, Language language) {
  const bool is_latin = word.empty() || static_cast<unsigned char>(word.front()) < 0x80;
  if (!is_latin) return IsAmong<kRussian>(word);
  switch (language) {
    case Language::kNone:
      return false;
    case Language::kEnglish:
      return IsAmong<kEnglish>(word);
    case Language::kGerman:
      return IsAmong<kGerman>(word);
    case Language::kFrench:
      return IsAmong<kFrench>(word);
    case Language::kSpanish:
      return IsAmong<kSpanish>(word);
    case Language::kItalian:
      return IsAmong<kItalian>(word);
    case Language::kPortuguese:
      return IsAmong<kPortuguese>(word);
  }
  return false;
}

bool IsStopCharacter(char32_t code_point) { return kCharacters.contains(code_point); }

}  // namespace keepsake::search
