// The bytes of every operation, held still: a frame that changes here can no
// longer be read by the other language, or by a host of yesterday.
// KEEPSAKE_WRITE_GOLDEN=1 writes the files anew, after a decision to do so.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../golden/golden_frames.h"
#include "engine/operation_table.h"
#include "json/json.h"
#include "store/embedding.h"

namespace keepsake::golden {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(KEEPSAKE_TESTS_DIR) / "golden";

std::string ToHex(ByteView bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string FileOf(const GoldenFrame& golden) {
  return "request " + ToHex(golden.request) + "\nresponse " + ToHex(golden.response) + "\n";
}

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool IsToBeWritten() { return std::getenv("KEEPSAKE_WRITE_GOLDEN") != nullptr; }

TEST(Golden, frames_are_written_byte_by_byte_as_in_the_files) {
  for (const GoldenFrame& golden : GoldenFrames()) {
    const fs::path path = kFolder / (golden.name + ".hex");
    if (IsToBeWritten()) std::ofstream(path, std::ios::binary) << FileOf(golden);
    EXPECT_EQ(Read(path), FileOf(golden)) << golden.name;
  }
}

TEST(Golden, each_file_belongs_to_a_frame) {
  std::set<std::string> names;
  for (const GoldenFrame& golden : GoldenFrames()) names.insert(golden.name);
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".hex") continue;
    EXPECT_TRUE(names.contains(entry.path().stem().string())) << entry.path();
  }
}

TEST(Golden, each_tag_has_a_frame) {
  std::set<int> tags;
  for (const GoldenFrame& golden : GoldenFrames()) {
    const auto kind = static_cast<wire::FrameKind>(golden.request[1]);
    Result<wire::Request> request = wire::ParseRequest(golden.request, kind);
    ASSERT_TRUE(request) << golden.name << ": " << request.error().message();
    for (const wire::OperationView& view : request->operations) tags.insert(view.tag);
  }
  EXPECT_TRUE(tags.erase(std::to_underlying(wire::Tag::kOpen)));
  for (const OperationRow& row : Operations()) {
    EXPECT_TRUE(tags.erase(std::to_underlying(row.tag))) << std::to_underlying(row.tag);
  }
  EXPECT_TRUE(tags.empty()) << "has no row in the operation table: " << *tags.begin();
}

// tests/js/golden.test.mjs reads it: "16 reads", "17 writes", "23 moves of the whole".
TEST(Golden, what_each_operation_does_is_as_in_the_file) {
  std::string lines;
  for (const OperationRow& row : Operations()) {
    const char* does = row.Has(kWrites) ? "writes" : row.Has(kBeyondRows) ? "moves" : "reads";
    const char* where = row.Has(kWhole) ? " of the whole" : "";
    lines += std::to_string(std::to_underlying(row.tag)) + " " + does + where + "\n";
  }
  const fs::path path = kFolder / "operations.txt";
  if (IsToBeWritten()) std::ofstream(path, std::ios::binary) << lines;
  EXPECT_EQ(Read(path), lines);
}

// js/src/store/texts.ts finds the same texts; tests/js/golden.test.mjs asks it. Of each line
// "value" is a value, "paths" what is embedded of it, "texts" pairs of a path and its text.
TEST(Golden, the_texts_of_a_value_are_as_in_the_file) {
  std::ifstream file(kFolder / "texts.jsonl");
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    std::vector<std::string> paths;
    for (json::ArrayReader list(*json::FindMember(line, "paths")); list.Next();) {
      paths.push_back(json::Unescape(list.value()));
    }
    const Result<PathTexts> found = TextsToEmbed(*json::FindMember(line, "value"), paths);
    ASSERT_TRUE(found) << line;
    std::size_t i = 0;
    for (json::ArrayReader list(*json::FindMember(line, "texts")); list.Next(); ++i) {
      json::ArrayReader pair(list.value());
      ASSERT_LT(i, found->texts.size()) << line;
      EXPECT_TRUE(pair.Next() && json::Unescape(pair.value()) == found->paths[i]) << line;
      EXPECT_TRUE(pair.Next() && json::Unescape(pair.value()) == found->texts[i]) << line;
    }
    EXPECT_EQ(i, found->texts.size()) << line;
  }
  EXPECT_GT(cases, 20U);
}

TEST(Golden, requests_survive_decoding_and_encoding) {
  for (const GoldenFrame& golden : GoldenFrames()) {
    const auto kind = static_cast<wire::FrameKind>(golden.request[1]);
    Result<wire::Request> request = wire::ParseRequest(golden.request, kind);
    ASSERT_TRUE(request) << golden.name;
    EXPECT_EQ(request->header.sequence, kSequence);
    EXPECT_EQ(request->header.client_id, 0x0001'0203'0405'0607U);
    EXPECT_EQ(request->header.now_ms, 1'700'000'000'123);
    const ByteView payload = request->operations[0].payload;
    Result<Bytes> again = golden.reencode_payload(payload);
    ASSERT_TRUE(again) << golden.name << ": " << again.error().message();
    EXPECT_EQ(*again, Bytes(payload.begin(), payload.end())) << golden.name;
  }
}

TEST(Golden, responses_survive_decoding_and_encoding) {
  for (const GoldenFrame& golden : GoldenFrames()) {
    Result<wire::Response> response = wire::ParseResponse(golden.response);
    ASSERT_TRUE(response) << golden.name;
    EXPECT_EQ(response->header.sequence, kSequence);
    if (!golden.reencode_answer) continue;
    const ByteView answer = response->results[0].body;
    Result<Bytes> again = golden.reencode_answer(answer);
    ASSERT_TRUE(again) << golden.name << ": " << again.error().message();
    EXPECT_EQ(*again, Bytes(answer.begin(), answer.end())) << golden.name;
  }
}

}  // namespace
}  // namespace keepsake::golden
