// French. Light stems, in the manner of J. Savoy: see stemmer.h.
#include <string>
#include <string_view>

#include "text/languages/language.h"

namespace keepsake::search {
namespace {

void StemFrench(std::string& word) {
  if (word.size() >= 6 && word.ends_with("aux")) word.replace(word.size() - 2, 2, "l");
  CutEnding(word, 3, {"euses", "euse", "eux", "ees", "ee", "es", "er", "ez", "s", "x", "e"});
  CutEnding(word, 3, {"e"});
}

constexpr RelativeDate kRelativeDates[] = {
    {"aujourd hui", DateUnit::kDay, 0},      {"avant hier", DateUnit::kDay, -2},
    {"cette semaine", DateUnit::kWeek, 0},   {"semaine derniere", DateUnit::kWeek, -1},
    {"mois dernier", DateUnit::kMonth, -1},  {"cette annee", DateUnit::kYear, 0},
    {"annee derniere", DateUnit::kYear, -1},
};

constexpr std::string_view kOfUser[] = {" je ", " mon "};

}  // namespace

constinit const LanguageWords kFrenchWords = {
    .stop_words =
        " a ai as au aux avec ce ces cette comment dans de des du elle en es est et etait eu il "
        "ils je "
        "la le les leur lui ma mais me mes moi mon ne nos notre nous on ont ou par pas pour qu "
        "quand "
        "que quel quelle qui sa se ses son sont sur ta te tes toi ton tu un une vos votre vous y ",
    .stem = StemFrench,
    .question_words = " que ",
    .of_user = kOfUser,
    .months = {" janvier ", " fevrier ", " mars ", " avril ", " mai ", " juin ", " juillet ",
               " aout ", " septembre ", " octobre ", " novembre ", " decembre "},
    .before_month = " en ",
    .weekdays = {" lundi ", " mardi ", " mercredi ", " jeudi ", " vendredi ", " samedi ",
                 " dimanche "},
    .last_behind = " dernier ",
    .relative_dates = kRelativeDates,
    .counts = {" un une ", " deux ", " trois ", " quatre ", " cinq ", " six ", " sept ", " huit ",
               " neuf ", " dix ", " onze ", " douze "},
    .units = {" jour jours ", " semaine semaines ", " mois ", " an ans annee annees "},
    .before_ago = " y_a ",
};

}  // namespace keepsake::search
