#include "wire/listed_tuples.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "wire/reader.h"
#include "wire/writer.h"

namespace keepsake::wire {
namespace {

std::string ListOf(std::size_t elements, char element = 'a') {
  std::string list = "[";
  for (std::size_t i = 0; i < elements; ++i)
    list += std::string(i > 0 ? ",\"" : "\"") + element + "\"";
  return list + "]";
}

ChannelValue ValueOf(const std::string& channel, const std::string& text) {
  return {channel, "1", {"json", Bytes(text.begin(), text.end())}};
}

CheckpointTuple TupleOf(const std::string& ns, std::vector<ChannelValue> values) {
  CheckpointTuple tuple;
  tuple.key = {"t", ns, "1"};
  tuple.values = std::move(values);
  return tuple;
}

// How many bytes each value shares.
std::vector<std::uint32_t> SharedOf(const std::vector<ListedTuple>& tuples) {
  std::vector<std::uint32_t> shared;
  for (const ListedTuple& tuple : tuples) {
    for (const ListedValue& value : tuple.values) shared.push_back(value.shared);
  }
  return shared;
}

// As a host reads them.
std::vector<std::string> TextsOf(const std::vector<ListedTuple>& tuples) {
  std::vector<std::string> wholes;
  std::vector<std::string> texts;
  for (const ListedTuple& tuple : tuples) {
    for (const ListedValue& value : tuple.values) {
      std::string text(value.rest.begin(), value.rest.end());
      if (value.shared == 0) {
        wholes.push_back(text);
      } else {
        text = wholes.at(value.whole).substr(0, value.shared) + text;
      }
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

void ExpectTold(const std::vector<CheckpointTuple>& tuples,
                const std::vector<std::uint32_t>& shared) {
  std::vector<std::string> texts;
  for (const CheckpointTuple& tuple : tuples) {
    for (const ChannelValue& value : tuple.values) {
      texts.emplace_back(value.value.bytes.begin(), value.value.bytes.end());
    }
  }
  const std::vector<ListedTuple> listed = Listed(tuples);
  EXPECT_EQ(TextsOf(listed), texts);
  EXPECT_EQ(SharedOf(listed), shared);
  Bytes bytes;
  Writer(bytes).Put(listed);
  EXPECT_EQ(TextsOf(*Decode<std::vector<ListedTuple>>(bytes)), texts);
}

TEST(ListedTuples, of_a_list_that_grew_the_longest_travels_once) {
  std::vector<CheckpointTuple> tuples;
  for (const std::size_t elements : {403, 402, 402, 400}) {
    tuples.push_back(TupleOf("", {ValueOf("messages", ListOf(elements))}));
  }
  // Four bytes an element, and the last one has no comma.
  ExpectTold(tuples, {0, 1608, 1608, 1600});
}

TEST(ListedTuples, each_channel_of_each_namespace_has_its_own_list) {
  std::vector<CheckpointTuple> tuples;
  for (const std::size_t elements : {402, 401}) {
    tuples.push_back(TupleOf("", {ValueOf("a", ListOf(elements, 'a')), ValueOf("short", "[]"),
                                  ValueOf("b", ListOf(elements, 'b'))}));
    tuples.push_back(TupleOf("inner", {ValueOf("a", ListOf(elements, 'c'))}));
  }
  ExpectTold(tuples, {0, 0, 0, 0, 1604, 0, 1604, 1604});
}

TEST(ListedTuples, what_shares_little_is_whole_and_shared_from_then_on) {
  ExpectTold(
      {TupleOf("", {ValueOf("a", ListOf(402, 'a'))}), TupleOf("", {ValueOf("a", ListOf(402, 'b'))}),
       TupleOf("", {ValueOf("a", ListOf(402, 'b'))}),
       TupleOf("", {ValueOf("a", ListOf(402, 'a'))})},
      {0, 0, 1609, 0});
}

TEST(ListedTuples, short_values_and_none_are_whole) {
  ExpectTold({TupleOf("", {ValueOf("a", "[1]")}), TupleOf("", {ValueOf("a", "[1]")}),
              TupleOf("", {ValueOf("a", "")})},
             {0, 0, 0});
  EXPECT_TRUE(Listed({}).empty());
}

}  // namespace
}  // namespace keepsake::wire
