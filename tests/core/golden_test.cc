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

#include "../golden/golden_frames.h"

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
  std::ifstream header(fs::path(KEEPSAKE_TESTS_DIR).parent_path() / "core/src/wire/tags.h");
  std::size_t listed = 0;
  bool in_tags = false;
  for (std::string line; std::getline(header, line);) {
    in_tags = in_tags || line.starts_with("enum class Tag");
    if (!in_tags || !line.starts_with("  k")) continue;
    ++listed;
    EXPECT_TRUE(tags.contains(std::stoi(line.substr(line.find('=') + 1)))) << line;
  }
  EXPECT_EQ(listed, tags.size());
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
