// Spanish. Light stems, in the manner of J. Savoy: see stemmer.h.
#include <string>
#include <string_view>

#include "text/languages/language.h"

namespace keepsake::search {
namespace {

void StemSpanish(std::string& word) {
  CutEnding(word, 3, {"ces", "es", "os", "as", "s"});
  CutEnding(word, 3, {"a", "o", "e"});
}

constexpr RelativeDate kRelativeDates[] = {
    {"hoy", DateUnit::kDay, 0},
    {"ayer", DateUnit::kDay, -1},
    {"anteayer", DateUnit::kDay, -2},
    {"esta semana", DateUnit::kWeek, 0},
    {"semana pasada", DateUnit::kWeek, -1},
    {"este mes", DateUnit::kMonth, 0},
    {"mes pasado", DateUnit::kMonth, -1},
    {"este ano", DateUnit::kYear, 0},
    {"ano pasado", DateUnit::kYear, -1},
};

constexpr std::string_view kOfUser[] = {" mi "};

}  // namespace

constinit const LanguageWords kSpanishWords = {
    .stop_words =
        " a al como con cual cuando de del donde el ella ellos en era es esta este esto ha han hay "
        "la "
        "las le les lo los me mi mis muy no nos o para pero por que quien se ser si sin sobre son "
        "su "
        "sus te tu un una uno y ya yo ",
    .asking =
        " acerca contado contar cuenta cuentame decir decirme describe describir detalle detalles "
        "dime "
        "dinos explica explicame explicar info informacion mencionado mencionamos mencionar "
        "mencione "
        "menciono recordar recuerda recuerdame recuerdas recuerdo respecto resume resumeme resumen "
        "resumir ",
    .talk =
        " acuerda acuerdas acuerdo ademas adios ah ahora algo alguien algun alguna alguno alli "
        "anda "
        "anotado anterior anteriormente antes aqui asi aun aunque ay ayuda ayudame ayudar bien "
        "bienvenida bienvenido broma bromas buena buenas bueno buenos caramba chiste chistes "
        "cierto "
        "claro comenta comentamos comentar comente conmigo contaba contexto contigo continua "
        "continuar conto contra conversacion correcto cosa cosas cuales cualquier cualquiera "
        "cuantas "
        "cuanto cuantos cuentas cuidate dale decia decias desde dicho digo dije dijimos dijiste "
        "dijo "
        "disculpa durante ellas embargo encanta encantado enhorabuena entendido entiendo entonces "
        "entre eres esa ese eso estamos estas estos estoy estupendo exactamente exacto excelente "
        "favor felicidades fue fueron genial gracia gracias gracioso guardado guau guay gusto "
        "haber "
        "habia habiamos habla hablabamos hablado hablame hablamos hablar hace hacer haces hacia "
        "hago "
        "has hasta hecho hemos hola igualmente incluso interesante jaja jajaja jamas jeje lo lol "
        "luego mande mas memoria menos mientras muchas muchisimas mucho nada nadie ninguna ninguno "
        "noches nos nosotros notas nuestra nuestro nunca obvio oh oiga ok okay oye paso perdon "
        "perfecto placer podemos podrias porque pregunta preguntar pronto puede puedes puedo pues "
        "quiere quieres quiero recientemente relacion relacionado repasar repaso repetir repite "
        "respuesta resumido risa sabe sabemos saber sabes segun segura seguro sido siempre siento "
        "sigue sin somos soy suerte tambien tampoco tan tanto tardes tema tenemos tener tengo ti "
        "tiene tienes toda todavia todo todos tus ultimamente usted ustedes uy vale vemos venga "
        "verdad vez wow ",
    .vague =
        " creer creo da dame dar dia dias gente grande gusta gustan hombre hoy ir llama llamar "
        "manana "
        "mejor minuto mira mirar momento mujer necesita necesito noche nuevo parece pasado pensar "
        "peor pienso poner primero semana tarde tiempo ultimo va vamos vas veo ver vida voy ",
    .common =
        " amiga amigo ano beber casa ciudad comer comprar dinero escuela familia favorito leer "
        "libro "
        "mes nombre numero pais trabaja trabajar trabajo vive vivir vivo ",
    .stem = StemSpanish,
    .somebody = " ella ellas ellos nos su sus ",
    .question_words = " como cual cuando donde que quien ",
    .of_user = kOfUser,
    .months = {" enero ", " febrero ", " marzo ", " abril ", " mayo ", " junio ", " julio ",
               " agosto ", " septiembre ", " octubre ", " noviembre ", " diciembre "},
    .before_month = " en ",
    .weekdays = {" lunes ", " martes ", " miercoles ", " jueves ", " viernes ", " sabado ",
                 " domingo "},
    .last_behind = " pasado ",
    .relative_dates = kRelativeDates,
    .counts = {" un una uno ", " dos ", " tres ", " cuatro ", " cinco ", " seis ", " siete ",
               " ocho ", " nueve ", " diez ", " once ", " doce "},
    .units = {" dia dias ", " semana semanas ", " mes meses ", " ano anos "},
    .before_ago = " hace ",
    .behind_ago = " atras ",
};

}  // namespace keepsake::search
