// Every number that the ranking weighs by. bench/core/text_fit.cc tries others, and README.md has
// what each is worth on each set.
#ifndef KEEPSAKE_TEXT_TEXT_WEIGHTS_H_
#define KEEPSAKE_TEXT_TEXT_WEIGHTS_H_

namespace keepsake::search {

struct TextWeights {
  // `words` of `explain`: what an item itself has of the question.
  double k1 = 0.9;           // BM25: a word that stands often in a text counts less each time
  double b = 0.5;            // BM25: long texts count less, the more so the more lengths differ
  double burstiness = 0.2;   // words that texts repeat count more (Church and Gale, 1995)
  double passage = 0.2;      // the part of a score that is the best passage's (Callan, 1994)
  double inexact = 0.3;      // times, for a typing error, a part of a word, a month for a day
  double asking_word = 0.2;  // times, for "describe" or "list" where somebody speaks
  double usual_items = 25;   // so many items beside the store's tell how rare a word is in general

  // `context`: what the neighbours have counts as if the item had a part of it.
  double near_1 = 0.4, near_2 = 0.3, near_3 = 0.1;  // one, two and three items away
  double answer = 0.64;        // more than near_1, from an item that asks to the next one
  double turn = 12;            // a text of more words lends less
  double borrowed = 0.75;      // an item that only borrows has at most this part of its lender's
  double coherent_items = 40;  // where nobody speaks fewer items don't lend
  double beyond_chance = 4;    // a difference of so many standard errors is no chance

  // `cues`: who speaks, and when. A word of the question is worth about 1 to 8.
  double speaker = 3.3;       // for what is said by whom the question names
  double name = 0.1;          // times, for that name as a word
  double asking = 0.9;        // times, for a turn that only asks
  double date = 7;            // for what is told on the day that is asked for
  double days_to_forget = 5;  // what is told so many days later has 1/e of that
  double of_user = 2.2;       // times, for what the user said, if the question is of the user
  double standing = 1.5;      // times, for what the user wants always or never
  double recency = 0.8;       // times one more, for the newest item, if a message is answered
  double fresh_items = 14;    // with so many newer items an item has 1/e of that
  double likeness = 1.5;      // of the best score, for what is like the first hits (Diaz, 2005)

  // A Meaning: what is near by vector.
  double nearness = 0.16;    // of the best score, for what is near
  double near_answer = 0.3;  // more than near_1, from an item that asks to the next one
  double knowing = 6;        // with so many standard errors an embedder counts in full
  double unrelated = 0.15, agreeing = 0.5;  // the same by correlation, among few items
};
inline constexpr TextWeights kTextWeights;

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TEXT_WEIGHTS_H_
