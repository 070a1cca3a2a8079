// Whether a question asks for anything, and a score says so: an agent shows what is above its gate.
// Forms of asking, topics and messages are in two halves. The first is what tables and numbers were
// chosen by, the second alone is asserted.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store_contract.h"

namespace keepsake {
namespace {

// As js/src/langchain/recall.ts has it.
constexpr double kGate = 0.07;

struct Topic {
  std::string_view name;  // as it stands in a question
  std::string_view fact;
};

struct Speech {
  std::string_view name;
  Language language;
  std::span<const std::string_view> forms;  // {} is the topic
  std::span<const Topic> topics;
  std::span<const std::string_view> messages;  // that ask for nothing
  std::span<const std::string_view> others;    // facts that hold words of chat
};

constexpr std::string_view kEnglishForms[] = {
    "Tell me about {}",
    "Can you summarise what we said about {}?",
    "Do you remember anything about {}?",
    "What do you know about {}?",
    "Did I ever mention {}?",
    "What have I told you about {} so far?",
    "Please remind me what I said about {}.",
    "Give me a quick overview of everything regarding {}",
    "Is there anything you can recall concerning {}?",
    "I forgot, what was it with {} again?",
    "Have we talked about {} before?",
    "Could you look up what you have on {}?",
    "hey, what's the latest on {}?",
    "List all facts you have stored about {}.",
    "I need some information on {}",
    "What did I say when we last spoke of {}?",
    "Would you be so kind as to recap our conversation about {}?",
    "{}, what do you know?",
    "Any details on {} in your notes?",
    "Let's talk about {}. What do you remember?",
    // The other half.
    "Fill me in on {}",
    "What can you tell me about {}?",
    "Refresh my memory about {}",
    "Do you have anything on file about {}?",
    "I'd like to know more about {}",
    "Summarize our discussions of {} please",
    "Do you recall what I told you about {} last week?",
    "Hi there! Quick question: what do we know about {}?",
    "Bring me up to speed on {}",
    "So what was the story with {}?",
    "Can you check whether I mentioned {} to you?",
    "Write down everything you remember about {}",
    "What's up with {}?",
    "Have I shared any details regarding {} with you?",
    "Could you give me a brief summary of {}?",
    "Thanks! And now something about {}?",
    "Describe {} in a few sentences",
    "Okay, back to {}: what did we discuss?",
    "Search your memory for {}",
    "What would you say if somebody asked you about {}?",
};

constexpr Topic kEnglishTopics[] = {
    {"the sister", "Her sister lives in Leeds"},
    {"my dog", "The dog weighs 12 kg"},
    {"the tattoo", "It is a secret that she has a tattoo"},
    {"my job", "Her job is at a bakery in York"},
    {"the garden", "Tomatoes grow in the garden behind the shed"},
    {"my allergy", "Has an allergy to peanuts"},
    {"the wedding", "The wedding takes place in June"},
    {"my bicycle", "Her bicycle was stolen near the station"},
    {"the landlord", "The landlord raised the rent by 5 percent"},
    {"my knee", "Hurt his knee at football"},
    {"the cello", "Plays the cello on Sundays"},
    {"Lisbon", "Moved to Lisbon in 2019"},
    {"my passport", "The passport expires in March"},
    {"the novel", "Wants to write a novel about whales"},
    {"my mother", "Her mother is a retired nurse"},
    {"coffee", "Drinks coffee without milk"},
    {"the printer", "The printer jams on thick paper"},
    {"my holiday", "Plans a holiday in Norway"},
    {"the exam", "The exam is in organic chemistry"},
    {"Marta", "Marta knows everyone on the street"},
    // The other half.
    {"my brother", "Her brother had a great time at the opera"},
    {"the car", "Drives an old blue car"},
    {"my birthday", "Her birthday is on 12 May"},
    {"the kitchen", "Wants to paint the kitchen yellow"},
    {"my boss", "Her boss said thanks for the good work"},
    {"the cat", "The cat is called Miso"},
    {"my diet", "Follows a vegetarian diet"},
    {"the insurance", "Changed the insurance last year"},
    {"my glasses", "Wears glasses for reading"},
    {"the piano", "Learned the piano as a child"},
    {"Kyoto", "Went to Kyoto in spring"},
    {"my thesis", "The thesis is about octopuses"},
    {"the neighbours", "The neighbours complain of noise"},
    {"my laptop", "Uses a laptop with Linux"},
    {"chess", "Likes to play chess at night"},
    {"the dentist", "Sees a dentist called Dr. Okafor"},
    {"my salary", "Earns a salary of 3000 euros"},
    {"the marathon", "Runs a marathon each autumn"},
    {"my password manager", "Keeps keys in a password manager"},
    {"Hannah", "Hannah thinks the day is too short"},
};

constexpr std::string_view kEnglishMessages[] = {
    "Is it?",
    "that's it",
    "Thanks, that's great!",
    "ok",
    "Hello!",
    "Good morning",
    "Nice, thank you so much",
    "Sure, go ahead",
    "Haha, that's funny",
    "Tell me a joke",
    "How are you?",
    "Yes please",
    "No, I don't think so",
    "What do you mean?",
    "I see. Makes sense.",
    "Have a nice day!",
    "You're welcome",
    "Sorry, my bad",
    "Can you help me with something?",
    "wow, cool 👍",
    // The other half.
    "Thank you very much!",
    "Great, I'll do that",
    "hi there",
    "Good night, see you tomorrow",
    "lol",
    "Really? Are you sure?",
    "That was a good one",
    "Okay, let me think about it",
    "Who are you?",
    "What can you do?",
    "Could you explain that again, please?",
    "I don't know what to say",
    "Yes, exactly, that's what I wanted to know",
    "Please continue",
    "Never mind",
    "That's all for today, thanks for your time",
    "I love it!",
    "Perfect, that works for me",
    "It was nice to talk to you",
    "Knock knock. Who is there?",
};

constexpr std::string_view kEnglishOthers[] = {
    "They say thanks in Basque",      "Knows a good joke about nuns",
    "Feels great after a nap",        "Thinks that time is money",
    "Tells stories to the children",  "Has a nice view of the harbour",
    "Likes to see things work",       "Always wakes up early in the morning",
    "Wants to help at the food bank", "Goes to the gym every other day",
};

constexpr std::string_view kGermanForms[] = {
    "Erzähl mir etwas über {}",
    "Kannst du zusammenfassen, was wir über {} gesagt haben?",
    "Erinnerst du dich an {}?",
    "Was weißt du über {}?",
    "Habe ich {} jemals erwähnt?",
    // The other half.
    "Was habe ich dir von {} erzählt?",
    "Gib mir bitte alle Informationen zu {}",
    "Haben wir schon einmal über {} gesprochen?",
    "Was war noch mal mit {}?",
    "Könntest du mir sagen, was du von {} noch weißt?",
};
constexpr Topic kGermanTopics[] = {
    {"meine Schwester", "Ihre Schwester wohnt in Leipzig"},
    {"den Hund", "Der Hund wiegt 12 kg"},
    {"die Allergie", "Hat eine Allergie gegen Erdnüsse"},
    {"mein Fahrrad", "Das Fahrrad wurde am Bahnhof gestohlen"},
    // The other half.
    {"den Vermieter", "Der Vermieter hat die Miete erhöht"},
    {"das Cello", "Spielt sonntags Cello"},
    {"die Prüfung", "Die Prüfung ist in Chemie"},
    {"Hannah", "Hannah kennt alle in der Straße"},
};
constexpr std::string_view kGermanMessages[] = {
    "Danke, das ist super!",
    "Ist es das?",
    "Guten Morgen",
    "Ja, bitte",
    "Wie geht es dir?",
    // The other half.
    "Vielen Dank für deine Hilfe",
    "Alles klar, verstanden",
    "Schönen Tag noch!",
    "Das weiß ich nicht",
    "Erzähl mir einen Witz",
};
constexpr std::string_view kGermanOthers[] = {"Es ist ein Geheimnis, dass sie tanzt",
                                              "Sagt gern danke", "Hat einen schönen Garten",
                                              "Geht jeden Tag schwimmen", "Weiß viel über Vögel"};

constexpr std::string_view kSpanishForms[] = {
    "Cuéntame algo sobre {}",
    "¿Puedes resumir lo que dijimos sobre {}?",
    "¿Te acuerdas de {}?",
    "¿Qué sabes de {}?",
    "¿Mencioné alguna vez {}?",
    // The other half.
    "¿Qué te he contado de {}?",
    "Dame toda la información sobre {}, por favor",
    "¿Hemos hablado ya de {}?",
    "¿Qué pasaba con {}?",
    "¿Podrías decirme qué recuerdas de {}?",
};
constexpr Topic kSpanishTopics[] = {
    {"mi hermana", "Su hermana vive en León"},
    {"el perro", "El perro pesa 12 kg"},
    {"la alergia", "Tiene alergia a los cacahuetes"},
    {"mi bicicleta", "Le robaron la bicicleta en la estación"},
    // The other half.
    {"el casero", "El casero subió el alquiler"},
    {"el violín", "Toca el violín los domingos"},
    {"el examen", "El examen es de química"},
    {"Marta", "Marta conoce a todos en la calle"},
};
constexpr std::string_view kSpanishMessages[] = {
    "Gracias, ¡qué bien!",
    "¿Es eso?",
    "Buenos días",
    "Sí, por favor",
    "¿Cómo estás?",
    // The other half.
    "Muchas gracias por tu ayuda",
    "Vale, entendido",
    "¡Que tengas un buen día!",
    "No lo sé",
    "Cuéntame un chiste",
};
constexpr std::string_view kSpanishOthers[] = {"Es un secreto que ella baila",
                                               "Siempre da las gracias", "Tiene buena memoria",
                                               "Nada todos los días", "Sabe mucho de pájaros"};

constexpr std::string_view kChineseForms[] = {
    "告诉我关于{}的事情",
    "你还记得{}吗？",
    "能不能总结一下我们说过的{}？",
    "你知道{}什么？",
    "我提到过{}吗？",
    // The other half.
    "请介绍一下{}",
    "关于{}你还记得什么？",
    "我之前跟你说过{}吗？",
    "我们聊过{}没有？",
    "你能回忆起{}的情况吗？",
};
constexpr Topic kChineseTopics[] = {
    {"我妹妹", "她的妹妹住在利兹"},
    {"小狗", "小狗重12公斤"},
    {"花生过敏", "她对花生过敏"},
    {"自行车", "自行车在车站被偷了"},
    // The other half.
    {"房东", "房东涨了房租"},
    {"大提琴", "她周日拉大提琴"},
    {"考试", "考试是有机化学"},
    {"护照", "护照三月到期"},
};
constexpr std::string_view kChineseMessages[] = {
    "谢谢，太好了！",
    "是吗？",
    "早上好",
    "好的，请",
    "你好吗？",
    // The other half.
    "非常感谢你的帮助",
    "好的，明白了",
    "晚安，再见",
    "我不知道",
    "讲个笑话吧",
};
constexpr std::string_view kChineseOthers[] = {"她有纹身是个秘密", "他每天早上跑步", "她喜欢说谢谢",
                                               "他知道很多鸟", "家里有好看的花园"};

constexpr Speech kSpeeches[] = {
    {"English", Language::kEnglish, kEnglishForms, kEnglishTopics, kEnglishMessages,
     kEnglishOthers},
    {"German", Language::kGerman, kGermanForms, kGermanTopics, kGermanMessages, kGermanOthers},
    {"Spanish", Language::kSpanish, kSpanishForms, kSpanishTopics, kSpanishMessages,
     kSpanishOthers},
    // People who never told a store their language.
    {"GermanInAnEnglishStore", Language::kEnglish, kGermanForms, kGermanTopics, kGermanMessages,
     kGermanOthers},
    {"SpanishInAnEnglishStore", Language::kEnglish, kSpanishForms, kSpanishTopics, kSpanishMessages,
     kSpanishOthers},
    {"Chinese", Language::kEnglish, kChineseForms, kChineseTopics, kChineseMessages,
     kChineseOthers},
};

// The first half, to choose by, or the second, to assert.
template <typename T>
std::span<const T> HalfOf(std::span<const T> all, bool second) {
  return second ? all.subspan(all.size() / 2) : all.first(all.size() / 2);
}

std::string Asked(std::string_view form, std::string_view topic) {
  std::string text(form);
  return text.replace(text.find("{}"), 2, topic);
}

struct Rate {
  std::size_t count = 0, of = 0;

  void Add(bool is_counted) {
    ++of;
    if (is_counted) ++count;
  }
  double value() const { return static_cast<double>(count) / static_cast<double>(of); }
};

class Facts {
 public:
  explicit Facts(Language language) {
    StoreOptions options;
    options.clock = &clock_;
    options.text = TextConfig{.language = language};
    store_ = InMemoryBackend().Open(std::move(options));
  }

  void Put(std::string_view fact) {
    std::string text(fact);
    EXPECT_TRUE(store_->Put({"n"}, std::to_string(count_++), R"({"text":")" + text + "\"}").ok());
  }

  std::size_t size() const { return count_; }

  // What is above the gate.
  std::vector<std::string> Shown(const std::string& query) const {
    const auto hits = store_->Search(
        {.ns_prefix = {"n"}, .query = query, .mode = SearchMode::kText, .ranking = {}});
    EXPECT_TRUE(hits.has_value());
    std::vector<std::string> shown;
    for (const SearchItem& hit : *hits) {
      if (hit.score.value_or(0) >= kGate) shown.push_back(hit.item.value);
    }
    return shown;
  }
  bool Shows(const std::string& query, std::string_view fact) const {
    return std::ranges::any_of(Shown(query), [&](const std::string& value) {
      return value.contains("\"" + std::string(fact) + "\"");
    });
  }

 private:
  ManualClock clock_{1'700'000'000'000};
  std::unique_ptr<Store> store_;
  std::size_t count_ = 0;
};

// The fact of one topic, and others: some that hold words of chat, those of other topics, and what
// somebody likes.
Facts StoreOf(const Speech& speech, const Topic& topic, std::size_t size) {
  Facts facts(speech.language);
  facts.Put(topic.fact);
  const auto put = [&](std::string_view fact) {
    if (facts.size() < size && fact != topic.fact) facts.Put(fact);
  };
  for (const std::string_view fact : speech.others) put(fact);
  for (const Topic& other : speech.topics) put(other.fact);
  for (std::size_t i = facts.size(); i < size; ++i) {
    put("likes number " + std::to_string(i) + " of the things in row " + std::to_string(i % 7));
  }
  return facts;
}

struct Rates {
  Rate shown, needless;
};

Rates RatesOf(const Speech& speech, std::size_t size, bool second) {
  Rates rates;
  const auto topics = HalfOf(speech.topics, second);
  for (const Topic& topic : topics) {
    const Facts facts = StoreOf(speech, topic, size);
    for (const std::string_view form : HalfOf(speech.forms, second)) {
      const std::string question = Asked(form, topic.name);
      const bool is_shown = facts.Shows(question, topic.fact);
      rates.shown.Add(is_shown);
      if (!is_shown && !second) std::printf("  not shown: %s\n", question.c_str());
    }
    for (const std::string_view message : HalfOf(speech.messages, second)) {
      const std::vector<std::string> shown = facts.Shown(std::string(message));
      rates.needless.Add(!shown.empty());
      if (!shown.empty() && !second) {
        std::printf("  needless: %.*s: %s\n", static_cast<int>(message.size()), message.data(),
                    shown[0].c_str());
      }
    }
  }
  return rates;
}

void Print(std::string_view what, std::size_t size, const Rates& rates) {
  std::printf("%.*s, %zu items: shown %.3f (%zu of %zu), without need %.3f (%zu of %zu)\n",
              static_cast<int>(what.size()), what.data(), size, rates.shown.value(),
              rates.shown.count, rates.shown.of, rates.needless.value(), rates.needless.count,
              rates.needless.of);
}

class GateTest : public testing::TestWithParam<Speech> {};

TEST_P(GateTest, shows_what_is_asked_for_and_nothing_to_who_asks_for_nothing) {
  const Speech& speech = GetParam();
  for (const std::size_t size : {1, 5, 15, 200}) {
    Print(std::string(speech.name) + " chosen by", size, RatesOf(speech, size, false));
    const Rates rates = RatesOf(speech, size, true);
    Print(std::string(speech.name), size, rates);
    EXPECT_GE(rates.shown.value(), 0.95) << size;
    EXPECT_LE(rates.needless.value(), 0.05) << size;
  }
}

// Kept from the names of tests.
void PrintTo(const Speech& speech, std::ostream* out) { *out << speech.name; }

INSTANTIATE_TEST_SUITE_P(Languages, GateTest, testing::ValuesIn(kSpeeches),
                         [](const auto& of) { return std::string(of.param.name); });

constexpr std::string_view kOfTheDog[] = {
    "The dog weighs 12 kg",       "The dog barks at the postman", "The dog was born in Hull",
    "The dog sleeps on the sofa", "The dog eats twice",           "The dog is afraid of thunder",
    "The dog loves the beach",    "The dog sees Dr. Okafor",      "The dog pulls on its lead",
};
constexpr std::string_view kQuestionsOfTheDog[] = {
    "How heavy is the dog?",
    "What do you know about the dog?",
    "Which breed is my dog?",
    "Tell me about the dog",
    // The other half.
    "Who is the dog's vet?",
    "Do you remember anything about my dog?",
    "How old is the dog?",
    "Can you summarise what we said about the dog?",
};

// As many as are asked for: these facts, or these and what else the dog did.
Facts StoreOfTheDog(std::size_t size) {
  Facts facts(Language::kEnglish);
  for (std::size_t i = 0; i < size; ++i) {
    facts.Put(i < std::size(kOfTheDog) ? std::string(kOfTheDog[i])
                                       : "The dog found stick " + std::to_string(i));
  }
  return facts;
}

TEST(Gate, a_topic_that_all_items_share_is_asked_for) {
  for (const std::size_t size : {1, 5, 9, 200}) {
    const Facts facts = StoreOfTheDog(size);
    for (const std::string_view question : kQuestionsOfTheDog) {
      EXPECT_THAT(facts.Shown(std::string(question)), testing::Not(testing::IsEmpty()))
          << question << " of " << size;
    }
    for (const std::string_view message : kEnglishMessages) {
      EXPECT_THAT(facts.Shown(std::string(message)), testing::IsEmpty())
          << message << " of " << size;
    }
    EXPECT_THAT(facts.Shown("Where did my grandmother buy the violin?"), testing::IsEmpty());
  }
}

TEST(Gate, a_word_of_chat_is_found_but_below_the_gate) {
  Facts facts(Language::kEnglish);
  facts.Put("They say thanks in Basque");
  EXPECT_THAT(facts.Shown("Thanks!"), testing::IsEmpty());
  EXPECT_THAT(facts.Shown("Basque"), testing::SizeIs(1));
}

}  // namespace
}  // namespace keepsake
