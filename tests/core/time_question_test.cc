#include "text/time_question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "text/dates.h"
#include "text/text_query.h"
#include "text/weekdays.h"

namespace keepsake::search {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A Wednesday.
std::string In(std::string_view text, std::string_view today = "d2023-05-10") {
  return Describe(ReadTimeQuestion(text, DayOfName(today)));
}

TEST(TimeQuestion, knows_what_comes_before_and_after_a_date) {
  EXPECT_EQ(In("What did I do before May 2023?"), "…2023-04-30");
  EXPECT_EQ(In("until 2021"), "…2021-12-31");
  EXPECT_EQ(In("after the 12th of April 2023"), "2023-04-13…");
  EXPECT_EQ(In("What did we do since March 2022?"), "2022-03-01…");
  EXPECT_EQ(In("before 12.04.2022"), "…2022-04-11");
  EXPECT_EQ(In("after 2020 and before 2023"), "2021-01-01…2022-12-31");
  EXPECT_EQ(In("vor Mai 2023"), "…2023-04-30");
  EXPECT_EQ(In("nach dem 3. Mai 2023"), "2023-05-04…");
  EXPECT_EQ(In("seit 2022"), "2022-01-01…");
  EXPECT_EQ(In("bis Juni 2023"), "…2023-06-30");
  EXPECT_EQ(In("avant mai 2023"), "…2023-04-30");
  EXPECT_EQ(In("2023年5月之前发生了什么"), "…2023-04-30");
  EXPECT_EQ(In("2023年3月以来"), "2023-03-01…");
  EXPECT_EQ(In("after the 12th of April"), "4-13…12-31") << "of any year";
}

TEST(TimeQuestion, knows_ranges_and_seasons) {
  EXPECT_EQ(In("What happened between 3 May and 10 June 2023?"), "2023-05-03…2023-06-10");
  EXPECT_EQ(In("between 3 May and 10 June"), "5-3…6-10");
  EXPECT_EQ(In("from May to July 2023"), "2023-05-01…2023-07-31");
  EXPECT_EQ(In("May to July 2023"), "2023-05-01…2023-07-31");
  EXPECT_EQ(In("from 3 to 10 May 2023"), "2023-05-03…2023-05-10");
  EXPECT_EQ(In("zwischen 3. Mai und 10. Juni 2023"), "2023-05-03…2023-06-10");
  EXPECT_EQ(In("von November 2022 bis Februar 2023"), "2022-11-01…2023-02-28");
  EXPECT_EQ(In("2023-05-03 to 2023-05-10"), "2023-05-03…2023-05-10");
  EXPECT_EQ(In("从5月到7月"), "5-1…7-31");
  EXPECT_EQ(In("in spring 2023"), "2023-03-01…2023-05-31");
  EXPECT_EQ(In("im Winter 2022"), "2022-12-01…2023-02-28");
  EXPECT_EQ(In("2022年春天"), "2022-03-01…2022-05-31");
  EXPECT_EQ(In("What did he do last summer?"), "2022-06-01…2022-08-31");
  EXPECT_EQ(In("last winter"), "2022-12-01…2023-02-28");
}

TEST(TimeQuestion, knows_weekdays) {
  EXPECT_EQ(In("What did we do on Monday?"), "Mondays");
  EXPECT_EQ(In("am Dienstag"), "Tuesdays");
  EXPECT_EQ(In("星期三做了什么"), "Wednesdays");
  EXPECT_EQ(In("at the weekend"), "Saturdays, Sundays");
  EXPECT_EQ(In("last Friday"), "") << "a day, seen from now";
  EXPECT_EQ(WeekdayOf(DayOfName("d2023-05-10").value()), 2);
  EXPECT_EQ(WeekdayOf(-1), 2) << "1969-12-31";
}

TEST(TimeQuestion, knows_what_is_asked_for_in_an_order) {
  for (const char* earliest :
       {"When was the first time she ran?", "Was habe ich zuerst gelesen?", "我第一次跑步",
        "the earliest note", "When did Jo first visit Rome?"}) {
    EXPECT_EQ(In(earliest), "the earliest first") << earliest;
  }
  for (const char* latest : {"Where does Ada live now?", "Where do I currently work?",
                             "the most recent trip", "Wo wohnt Ada derzeit?", "她现在住在哪里"}) {
    EXPECT_EQ(In(latest), "the latest first") << latest;
  }
}

TEST(TimeQuestion, leaves_alone_what_says_nothing_of_time) {
  for (const char* plain :
       {"What is Ann's first name?", "May I go after the meeting?", "before the trip in May",
        "from Anna to Bob", "fall in love", "the letter from May 2023", "on 8 May 2023",
        "What did John do the week before August 3, 2023?", "between you and me", "after 3 cups",
        "Who is after Mark?", "一周", "What did I know?"}) {
    EXPECT_EQ(In(plain), "") << plain;
  }
  for (const char* odd :
       {"before", "between and", "从到", "2023年", "to to to", "before 99.99.9999", "in spring",
        "from to 2023", "\xFF before 2023 \xE5", "since"}) {
    (void)In(odd);
  }
}

TEST(TimeQuestion, a_span_holds_days_months_and_years_that_are_all_in_it) {
  const TimeSpan span = ReadTimeQuestion("from May to July 2023", std::nullopt).spans.at(0);
  for (const char* in : {"d2023-05-01", "d2023-07-31", "d2023-06"}) {
    EXPECT_TRUE(span.Holds(in)) << in;
  }
  for (const char* out : {"d2023-04-30", "d2023-08-01", "d2023", "d-06", "d-06-10", "dog",
                          "d2023-13", "d2023-0x", "d2023-02-30"}) {
    EXPECT_FALSE(span.Holds(out)) << out;
  }
  const TimeSpan winter = ReadTimeQuestion("in winter", std::nullopt).spans.at(0);
  EXPECT_TRUE(winter.Holds("d2023-01-05"));
  EXPECT_TRUE(winter.Holds("d2022-12-31"));
  EXPECT_FALSE(winter.Holds("d2022-11-30"));
}

TEST(TimeQuestion, what_bounds_a_span_is_not_asked_for) {
  const auto parsed = [](std::string_view text) {
    return ParseTextQuery(text, Language::kEnglish);
  };
  EXPECT_THAT(parsed("before May 2023").periods, IsEmpty());
  EXPECT_THAT(parsed("after 8 May 2023").days, IsEmpty());
  EXPECT_THAT(parsed("in May 2023").periods, ElementsAre("d2023-05"));
  EXPECT_FALSE(parsed("before 2023").empty());
}

}  // namespace
}  // namespace keepsake::search
