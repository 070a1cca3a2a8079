// Italian. Light stems, in the manner of J. Savoy: see stemmer.h.
#include <string>
#include <string_view>

#include "text/languages/language.h"

namespace keepsake::search {
namespace {

void StemItalian(std::string& word) {
  CutEnding(word, 3, {"ie", "he", "hi", "ii", "ia", "io"});
  CutEnding(word, 3, {"a", "e", "i", "o"});
}

constexpr RelativeDate kRelativeDates[] = {
    {"oggi", DateUnit::kDay, 0},
    {"ieri", DateUnit::kDay, -1},
    {"questa settimana", DateUnit::kWeek, 0},
    {"settimana scorsa", DateUnit::kWeek, -1},
    {"mese scorso", DateUnit::kMonth, -1},
    {"anno scorso", DateUnit::kYear, -1},
};

constexpr std::string_view kOfUser[] = {" io "};

}  // namespace

constinit const LanguageWords kItalianWords = {
    .stop_words =
        " a ai al alla anche che chi ci come con cosa da dal de dei del della di do dove e era gli "
        "ha "
        "hai ho i il in io la le lei li lo lui ma mi mia mio ne nel nella no noi non o per piu "
        "quale "
        "quando se si sono sua suo tu un una uno voi ",
    .stem = StemItalian,
    .of_user = kOfUser,
    .months = {" gennaio ", " febbraio ", " marzo ", " aprile ", " maggio ", " giugno ", " luglio ",
               " agosto ", " settembre ", " ottobre ", " novembre ", " dicembre "},
    .before_month = " nel ",
    .weekdays = {" lunedi ", " martedi ", " mercoledi ", " giovedi ", " venerdi ", " sabato ",
                 " domenica "},
    .last_behind = " scorso scorsa ",
    .relative_dates = kRelativeDates,
    .counts = {" un una uno ", " due ", " tre ", " quattro ", " cinque ", " sei ", " sette ",
               " otto ", " nove ", " dieci ", " undici ", " dodici "},
    .units = {" giorno giorni ", " settimana settimane ", " mese mesi ", " anno anni "},
    .behind_ago = " fa ",
};

}  // namespace keepsake::search
