#include "text/common_words.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "text/stemmer.h"
#include "text/stop_words.h"
#include "text/word_list.h"

namespace keepsake::search {
namespace {

// Each word between two spaces, folded as a text is. Stop words are no part of it. What people say
// to each other, or to a machine that remembers, is told by hand: counts of printed texts know
// nothing of it.
constexpr std::string_view kEnglishAsking =
    " concern describe detail discuss discussion elaborate expand explain fact gist "
    "highlight info information lowdown mention overview recall recap refresh regard "
    "regarding remember remind reminder rundown specify summarise summarize summary tell "
    "told ";

constexpr std::string_view kEnglishTalk =
    " absolute absolutely acknowledge actually aforementioned agree agreed ah aha ahead "
    "ai ain alas almost already alright also although always amazing among answer "
    "anybody anyhow anyone anything anyway anywhere apologise apologize apology "
    "apparently appreciate ask assistant aware awesome aww back background basically "
    "before beside besides bit bitte bless bonjour bot bravo brb brief briefly brilliant "
    "btw buddy bye carry certain certainly chat cheer cheers ciao clarification clarify "
    "clearly clever confirm confirmation congrats congratulation congratulations context "
    "continue conversation cool correct curious dank danke deal definitely disagree dude "
    "dunno earlier eh else enough even ever every everyone everything everywhere exactly "
    "example excellent excuse fabulous fair familiar fantastic far farewell fine forgive "
    "frankly funny fyi glad gonna good goodbye goodnight got gotcha gotta gracias great "
    "greeting guess ha haha hahaha hallo hardly hehe hello help helped helpful hence hey "
    "hi hilarious hiya hm hmm hola honestly howdy however huh hurray idk impress "
    "impressive indeed instead interesting joke just kind knew know known lately later "
    "latest literally lmao lol lot lovely maam magnificent marvellous mate maybe mean "
    "meh memory merci nah neat never nevermind nice nobody none nope nothing now nowhere "
    "np obrigado obviously often oh ok okay omg one ones ooh oops ouch pal pardon per "
    "perfect perhaps phew piece pleasure pls plus plz point previous previously probably "
    "proceed question quick quickly quite rather really recent recently refer regards "
    "relate relation rephrase rerun respect retry rofl roger said salut say scoop sense "
    "seriously several sincerely so somebody someone something sometimes somewhere soon "
    "sorry speak splendid spoke spoken still stuff subject super superb suppose sure "
    "surely tad talk talked terrific thank thanks thankyou therefore thing think though "
    "thought thus thx topic toward towards true truly ty ugh uh um understand understood "
    "unless update useful via wanna welcome well whatever whenever whoops within without "
    "wonder wonderful wondering wow yay yea yeah yep yes yet yikes yup ";

constexpr std::string_view kEnglishVague =
    " afternoon another around away bad begin believe best better bother bring call care "
    "case catch change check choose come day deal different done end evening feel fill "
    "find first fit fun get give go guy hang happen happy have hear heard hold hope idea "
    "inform keep last laugh learn leave let life like list little long look lot love "
    "make man matter mind minute moment morning need new next night note noted order "
    "part people person pick problem pull put ready real reason reference repeat right "
    "same save saved search second see seem share show small sort speed start stop store "
    "stored take thing time today tomorrow tonight trouble true try turn type wait want way week "
    "weekend whole world worry wrong ";

constexpr std::string_view kEnglishCommon =
    " book buy child city country currently drink eat family favorite favourite food "
    "friend home house job live money month name number old pay phone place plan play "
    "read run school start use usually word work write year ";

constexpr std::string_view kGermanAsking =
    " beschreib beschreibe beschreiben besprechen besprochen betreffend bezuglich detail "
    "details erinnere erinnern erinnerst erklar erklare erklaren erwahnen erwahnt "
    "erwahnte erzahl erzahle erzahlen erzahlt fass fasse hinsichtlich info information "
    "informationen infos schilder schildere schildern uberblick zusammenfassen "
    "zusammenfassung ";

constexpr std::string_view kGermanTalk =
    " ach aha ahnung allerdings alles also angeht antwort beim bekannt bereits bescheid "
    "betrifft bisher bislang bist bitte bitteschon ciao dabei dafur daher damit danach "
    "dank danke dankeschon dann daran darauf darf daruber darum davon dazu dein deine "
    "deinen deiner denn dennoch deshalb deswegen diese dieser dieses ding dort eben echt "
    "egal ehrlich eigentlich einmal entschuldigung etwa etwas euch euer fortfahren frage "
    "fragen freut fruher gab ganz geben geh geholfen geht gehts gemerkt genau genial "
    "gerade geredet gern gerne gerngeschehen gesagt gespeichert gesprach gesprochen gib "
    "gibt gruss grusse gut gute guten guter gutes habt haha hahaha hallo hast hatten "
    "helfen hey hi hier hilf hilfe hinzu hm hmm hoffentlich huch hurra ihm ihn ihnen "
    "ihre ihrem ihren ihrer immer ins interessant irgendetwas irgendwas irgendwer jawohl "
    "je jeder jedoch jemals jemand jep jetzt jo juhu kannst kein keine keinen keiner "
    "klar klasse konnen konntest kurz kurze kurzer leid leider letztens liebe los lustig "
    "mal mehr meine meinem meinen meiner meines merken mitteilen mochte mochtest moin "
    "muss musst naja naturlich ne nee nein nett neulich nichts niemand nope notiert oh "
    "ohne ok okay perfekt prima prost reden redeten richtig sache sag sage sagen sagt "
    "sagte schade schon schone schonen schoner schones sehr seid seine seinen seiner "
    "seit servus sicher sogar soll sollte sorry sowieso spitze sprachen sprechen stand "
    "stimmt stimmts super thema tja toll tolle toller trotzdem tschus tschuss tut "
    "ubrigens ungefahr unser unsere unterhaltung ups verstanden verstehe vielen "
    "vielleicht vom vorhin wann waren warst warum weil weiss weisst weiter welcher "
    "welches wem wen werden weshalb wieder wiederhole wiederholen wieso will willst "
    "wirklich wirst wissen witz witzig woher wohin wohl worden wunderbar wunsche wurde "
    "wurdest wusste zuletzt zusammen zweimal ";

constexpr std::string_view kGermanVague =
    " abend brauche brauchen denken denkst erste falsch finde finden frau fuhlen gehen "
    "gehst gemacht ging glaube glauben gross grund heissen heisst heute idee kam klein "
    "kommen kommt lassen leben letzte leute lieben mache machen macht mag mann minute "
    "moment morgen nachste nacht nenne nennen neu problem sehen siehst stunde tag tage "
    "teil tun woche wochenende wollen zeig zeigen zeit ";

constexpr std::string_view kGermanCommon =
    " alt arbeit arbeiten arbeitet buch essen familie freund freundin geld haus jahr "
    "kaufen kind land lebt lesen lieblings monat name nummer schule stadt trinken wohnen "
    "wohnt ";

constexpr std::string_view kSpanishAsking =
    " acerca contado contar cuenta cuentame decir decirme describe describir detalle "
    "detalles dime dinos explica explicame explicar info informacion mencionado "
    "mencionamos mencionar mencione menciono recordar recuerda recuerdame recuerdas "
    "recuerdo respecto resume resumeme resumen resumir ";

constexpr std::string_view kSpanishTalk =
    " acuerda acuerdas acuerdo ademas adios ah ahora algo alguien algun alguna alguno "
    "alli anda anotado anterior anteriormente antes aqui asi aun aunque ay ayuda ayudame "
    "ayudar bien bienvenida bienvenido broma bromas buena buenas bueno buenos caramba "
    "chiste chistes cierto claro comenta comentamos comentar comente conmigo contaba "
    "contexto contigo continua continuar conto contra conversacion correcto cosa cosas "
    "cuales cualquier cualquiera cuantas cuanto cuantos cuentas cuidate dale decia "
    "decias desde dicho digo dije dijimos dijiste dijo disculpa durante ellas embargo "
    "encanta encantado enhorabuena entendido entiendo entonces entre eres esa ese eso "
    "estamos estas estos estoy estupendo exactamente exacto excelente favor felicidades "
    "fue fueron genial gracia gracias gracioso guardado guau guay gusto haber habia "
    "habiamos habla hablabamos hablado hablame hablamos hablar hace hacer haces hacia "
    "hago has hasta hecho hemos hola igualmente incluso interesante jaja jajaja jamas "
    "jeje lo lol luego mande mas memoria menos mientras muchas muchisimas mucho nada "
    "nadie ninguna ninguno noches nos nosotros notas nuestra nuestro nunca obvio oh oiga "
    "ok okay oye paso perdon perfecto placer podemos podrias porque pregunta preguntar "
    "pronto puede puedes puedo pues quiere quieres quiero recientemente relacion "
    "relacionado repasar repaso repetir repite respuesta resumido risa sabe sabemos "
    "saber sabes segun segura seguro sido siempre siento sigue sin somos soy suerte "
    "tambien tampoco tan tanto tardes tema tenemos tener tengo ti tiene tienes toda "
    "todavia todo todos tus ultimamente usted ustedes uy vale vemos venga verdad vez wow ";

constexpr std::string_view kSpanishVague =
    " creer creo da dame dar dia dias gente grande gusta gustan hombre hoy ir llama "
    "llamar manana mejor minuto mira mirar momento mujer necesita necesito noche nuevo "
    "parece pasado pensar peor pienso poner primero semana tarde tiempo ultimo va vamos "
    "vas veo ver vida voy ";

constexpr std::string_view kSpanishCommon =
    " amiga amigo ano beber casa ciudad comer comprar dinero escuela familia favorito "
    "leer libro mes nombre numero pais trabaja trabajar trabajo vive vivir vivo ";

// Pairs and single characters. Emoji that answer rather than name.
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

constexpr std::string_view kEmojiTalk =
    " ✅ ❤ 🎉 👋 👌 👍 👏 💪 💯 🔥 😀 😁 😂 😃 😄 😅 😆 "
    "😇 😉 😊 😍 😎 😘 😢 😭 🙂 🙌 🙏 🤔 🤗 🤣 🥰 ";

// Words by their stems, so that the lists can hold them as they are written.
class StemTable {
 public:
  StemTable(std::span<const std::string_view> groups, Language language)
      : stems_(StemsOf(groups, language)), list_(Views()) {}

  std::uint32_t GroupOf(std::string_view stem) const { return list_.GroupOf(stem); }

 private:
  static std::vector<std::string> StemsOf(std::span<const std::string_view> groups,
                                          Language language) {
    std::vector<std::string> all;
    for (const std::string_view group : groups) {
      std::string& stems = all.emplace_back(" ");
      for (std::size_t begin = 1, end = 0; begin < group.size(); begin = end + 1) {
        end = group.find(' ', begin);
        std::string word(group.substr(begin, end - begin));
        Stem(language, word);
        stems += word + ' ';
      }
    }
    return all;
  }

  std::vector<std::string_view> Views() const { return {stems_.begin(), stems_.end()}; }

  std::vector<std::string> stems_;
  WordList list_;
};

Commonness CommonnessIn(const StemTable& table, std::string_view stem) {
  constexpr Commonness kOfGroup[] = {Commonness::kRare, Commonness::kAsking, Commonness::kTalk,
                                     Commonness::kVague, Commonness::kCommon};
  return kOfGroup[table.GroupOf(stem)];
}

}  // namespace

Commonness CommonnessOf(std::string_view stem, Language language) {
  if (!stem.empty() && static_cast<unsigned char>(stem.front()) >= 0x80) {
    static constexpr std::string_view kGroups[] = {kUnspacedTalk, kEmojiTalk};
    static const WordList list(kGroups);
    return list.GroupOf(stem) > 0 ? Commonness::kTalk : Commonness::kRare;
  }
  switch (language) {
    case Language::kEnglish: {
      static constexpr std::string_view kGroups[] = {kEnglishAsking, kEnglishTalk, kEnglishVague,
                                                     kEnglishCommon};
      static const StemTable table(kGroups, language);
      return CommonnessIn(table, stem);
    }
    case Language::kGerman: {
      static constexpr std::string_view kGroups[] = {kGermanAsking, kGermanTalk, kGermanVague,
                                                     kGermanCommon};
      static const StemTable table(kGroups, language);
      return CommonnessIn(table, stem);
    }
    case Language::kSpanish: {
      static constexpr std::string_view kGroups[] = {kSpanishAsking, kSpanishTalk, kSpanishVague,
                                                     kSpanishCommon};
      static const StemTable table(kGroups, language);
      return CommonnessIn(table, stem);
    }
    case Language::kNone:
    case Language::kFrench:
    case Language::kItalian:
    case Language::kPortuguese:
      break;
  }
  return Commonness::kRare;
}

Commonness CommonnessOfWord(std::string word, Language language) {
  if (IsStopWord(word, language)) return Commonness::kTalk;
  Stem(language, word);
  return CommonnessOf(word, language);
}

Language LanguageOf(std::span<const std::string> words, Language usual) {
  const auto common_in = [&](Language language) {
    return std::ranges::count_if(words, [&](const std::string& word) {
      return CommonnessOfWord(word, language) != Commonness::kRare;
    });
  };
  Language best = usual;
  auto most = common_in(usual);
  for (int number = 1; number <= static_cast<int>(kLastLanguage); ++number) {
    const auto other = static_cast<Language>(number);
    const auto count = common_in(other);
    if (count <= most) continue;
    best = other;
    most = count;
  }
  return best;
}

double GeneralShare(Commonness commonness) {
  switch (commonness) {
    case Commonness::kRare:
      return 0.004;
    case Commonness::kCommon:
      return 0.05;
    case Commonness::kVague:
      return 0.15;
    case Commonness::kAsking:
    case Commonness::kTalk:
      return 0.4;
  }
  return 0;
}

}  // namespace keepsake::search
