// German. Light stems, in the manner of J. Savoy: see stemmer.h.
#include <string>
#include <string_view>

#include "text/languages/language.h"

namespace keepsake::search {
namespace {

void StemGerman(std::string& word) {
  CutEnding(word, 4, {"innen", "ern", "est", "en", "em", "er", "es", "st", "e", "n", "s", "t"});
}

constexpr RelativeDate kRelativeDates[] = {
    {"heute", DateUnit::kDay, 0},
    {"gestern", DateUnit::kDay, -1},
    {"vorgestern", DateUnit::kDay, -2},
    {"diese woche", DateUnit::kWeek, 0},
    {"letzte woche", DateUnit::kWeek, -1},
    {"vorige woche", DateUnit::kWeek, -1},
    {"letztes wochenende", DateUnit::kWeekend, -1},
    {"diesen monat", DateUnit::kMonth, 0},
    {"letzten monat", DateUnit::kMonth, -1},
    {"vorigen monat", DateUnit::kMonth, -1},
    {"dieses jahr", DateUnit::kYear, 0},
    {"letztes jahr", DateUnit::kYear, -1},
    {"voriges jahr", DateUnit::kYear, -1},
};

constexpr std::string_view kOfUser[] = {" ich ", " mein", " mir ", " mich "};

}  // namespace

constinit const LanguageWords kGermanWords = {
    .stop_words =
        " aber als am an auch auf aus bei bin bis da das dass dem den der des die dir doch du "
        "durch "
        "ein eine einem einen einer eines er es fur habe haben hat hatte ich ihr im in ist ja kann "
        "mein mich mir mit nach nicht noch nur ob oder sein sich sie sind so uber um und uns von "
        "vor "
        "war was welche wenn wer wie wir wird wo zu zum zur ",
    .asking =
        " beschreib beschreibe beschreiben besprechen besprochen betreffend bezuglich detail "
        "details "
        "erinnere erinnern erinnerst erklar erklare erklaren erwahnen erwahnt erwahnte erzahl "
        "erzahle "
        "erzahlen erzahlt fass fasse hinsichtlich info information informationen infos schilder "
        "schildere schildern uberblick zusammenfassen zusammenfassung ",
    .talk =
        " ach aha ahnung allerdings alles also angeht antwort beim bekannt bereits bescheid "
        "betrifft "
        "bisher bislang bist bitte bitteschon ciao dabei dafur daher damit danach dank danke "
        "dankeschon dann daran darauf darf daruber darum davon dazu dein deine deinen deiner denn "
        "dennoch deshalb deswegen diese dieser dieses ding dort eben echt egal ehrlich eigentlich "
        "einmal entschuldigung etwa etwas euch euer fortfahren frage fragen freut fruher gab ganz "
        "geben geh geholfen geht gehts gemerkt genau genial gerade geredet gern gerne "
        "gerngeschehen "
        "gesagt gespeichert gesprach gesprochen gib gibt gruss grusse gut gute guten guter gutes "
        "habt "
        "haha hahaha hallo hast hatten helfen hey hi hier hilf hilfe hinzu hm hmm hoffentlich huch "
        "hurra ihm ihn ihnen ihre ihrem ihren ihrer immer ins interessant irgendetwas irgendwas "
        "irgendwer jawohl je jeder jedoch jemals jemand jep jetzt jo juhu kannst kein keine keinen "
        "keiner klar klasse konnen konntest kurz kurze kurzer leid leider letztens liebe los "
        "lustig "
        "mal mehr meine meinem meinen meiner meines merken mitteilen mochte mochtest moin muss "
        "musst "
        "naja naturlich ne nee nein nett neulich nichts niemand nope notiert oh ohne ok okay "
        "perfekt "
        "prima prost reden redeten richtig sache sag sage sagen sagt sagte schade schon schone "
        "schonen schoner schones sehr seid seine seinen seiner seit servus sicher sogar soll "
        "sollte "
        "sorry sowieso spitze sprachen sprechen stand stimmt stimmts super thema tja toll tolle "
        "toller trotzdem tschus tschuss tut ubrigens ungefahr unser unsere unterhaltung ups "
        "verstanden verstehe vielen vielleicht vom vorhin wann waren warst warum weil weiss weisst "
        "weiter welcher welches wem wen werden weshalb wieder wiederhole wiederholen wieso will "
        "willst wirklich wirst wissen witz witzig woher wohin wohl worden wunderbar wunsche wurde "
        "wurdest wusste zuletzt zusammen zweimal ",
    .vague =
        " abend brauche brauchen denken denkst erste falsch finde finden frau fuhlen gehen gehst "
        "gemacht ging glaube glauben gross grund heissen heisst heute idee kam klein kommen kommt "
        "lassen leben letzte leute lieben mache machen macht mag mann minute moment morgen nachste "
        "nacht nenne nennen neu problem sehen siehst stunde tag tage teil tun woche wochenende "
        "wollen "
        "zeig zeigen zeit ",
    .common =
        " alt arbeit arbeiten arbeitet buch essen familie freund freundin geld haus jahr kaufen "
        "kind "
        "land lebt lesen lieblings monat name nummer schule stadt trinken wohnen wohnt ",
    .stem = StemGerman,
    .joins_words = true,
    .somebody = " er ihm ihn ihr ihre sie uns wir ",
    .question_words = " wann warum was welche wer wie wo ",
    .of_user = kOfUser,
    .months = {" januar ", " februar ", " marz ", " april ", " mai ", " juni ", " juli ",
               " august ", " september ", " oktober okt ", " november ", " dezember dez "},
    .before_month = " im in seit ",
    .weekdays = {" montag montags ", " dienstag dienstags ", " mittwoch mittwochs ",
                 " donnerstag donnerstags ", " freitag freitags ",
                 " samstag samstags sonnabend sonnabends ", " sonntag sonntags "},
    .last_before = " letzten vorigen vergangenen ",
    .relative_dates = kRelativeDates,
    .counts = {" ein eine einem einer ", " zwei ", " drei ", " vier ", " fuenf funf ", " sechs ",
               " sieben ", " acht ", " neun ", " zehn ", " elf ", " zwolf zwoelf "},
    .units = {" tag tage tagen ", " woche wochen ", " monat monate monaten ",
              " jahr jahre jahren "},
    .before_ago = " vor ",
};

}  // namespace keepsake::search
