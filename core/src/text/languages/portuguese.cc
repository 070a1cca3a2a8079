// Portuguese. Light stems, in the manner of J. Savoy: see stemmer.h.
#include <string>
#include <string_view>

#include "text/languages/language.h"

namespace keepsake::search {
namespace {

void StemPortuguese(std::string& word) {
  if (word.size() >= 5 && word.ends_with("oes")) word.replace(word.size() - 3, 3, "ao");
  CutEnding(word, 3, {"es", "os", "as", "s"});
  CutEnding(word, 3, {"a", "o", "e"});
}

constexpr RelativeDate kRelativeDates[] = {
    {"hoje", DateUnit::kDay, 0},
    {"ontem", DateUnit::kDay, -1},
    {"semana passada", DateUnit::kWeek, -1},
    {"mes passado", DateUnit::kMonth, -1},
    {"ano passado", DateUnit::kYear, -1},
};

constexpr std::string_view kOfUser[] = {" eu ", " meu "};

}  // namespace

constinit const LanguageWords kPortugueseWords = {
    .stop_words =
        " a ao aos as com como da das de do dos e ela ele em era essa esse esta este eu foi ha "
        "isso ja "
        "la mais mas me meu minha na nao nas no nos o onde os ou para pela pelo por qual quando "
        "que "
        "quem sao se sem ser seu so sua tem um uma voce ",
    .stem = StemPortuguese,
    .of_user = kOfUser,
    .months = {" janeiro ", " fevereiro ", " marco ", " abril ", " maio ", " junho ", " julho ",
               " agosto ", " setembro ", " outubro ", " novembro ", " dezembro "},
    .before_month = " em ",
    .weekdays = {" segunda ", " terca ", " quarta ", " quinta ", " sexta ", " sabado ",
                 " domingo "},
    .last_behind = " passado passada ",
    .relative_dates = kRelativeDates,
    .counts = {" um uma ", " dois duas ", " tres ", " quatro ", " cinco ", " seis ", " sete ",
               " oito ", " nove ", " dez ", " onze ", " doze "},
    .units = {" dia dias ", " semana semanas ", " mes meses ", " ano anos "},
    .behind_ago = " atras ",
};

}  // namespace keepsake::search
