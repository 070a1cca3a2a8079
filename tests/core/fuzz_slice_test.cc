// A slice of fuzzing for every test run, seeded. KEEPSAKE_FUZZ_SECONDS=600 fuzzes
// each test below for so long, from another seed each time it is run.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../fuzz/frame_fuzz.h"
#include "../fuzz/json_judge.h"
#include "../golden/golden_frames.h"
#include "engine/operation_table.h"

namespace keepsake::fuzz {
namespace {

using Random = std::mt19937_64;

constexpr std::uint64_t kSeed = 20'240'229;
constexpr int kGeneratedInputs = 500;
constexpr int kMutatedRounds = 150;
constexpr int kJsonInputs = 2000;

// Calls `round` so many times with a seed of its own, or for as long as was asked.
void Repeat(int rounds, const std::function<void(std::uint64_t seed)>& round) {
  using Clock = std::chrono::steady_clock;
  const char* seconds = std::getenv("KEEPSAKE_FUZZ_SECONDS");
  if (seconds == nullptr) {
    for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) {
      round(kSeed + static_cast<std::uint64_t>(i));
    }
    return;
  }
  std::uint64_t seed = std::random_device()();
  const auto end = Clock::now() + std::chrono::seconds(std::stoi(seconds));
  while (Clock::now() < end && !testing::Test::HasFailure()) round(++seed);
}

Bytes RandomBytes(Random& random, std::size_t count) {
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

void Mutate(Random& random, Bytes& frame) {
  if (frame.empty()) return;
  const std::size_t at = random() % frame.size();
  const auto position = frame.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random() % 6) {
    case 0:
      frame[at] ^= static_cast<std::uint8_t>(1U << random() % 8);
      break;
    case 1:
      frame[at] = static_cast<std::uint8_t>(random());
      break;
    case 2:  // a number at its end
      for (std::size_t i = at; i < std::min(at + 4, frame.size()); ++i) frame[i] = 0xFF;
      break;
    case 3:
      frame.resize(at);
      break;
    case 4:
      frame.erase(position);
      break;
    default:
      frame.insert(position, static_cast<std::uint8_t>(random()));
  }
}

TEST(FuzzSlice, all_operations_on_items_and_threads_are_made) {
  Random random(kSeed);
  const Bytes input = RandomBytes(random, 200'000);
  ByteSource source(input);
  OperationGenerator generator(source);
  std::set<wire::Tag> made;
  while (!source.empty()) {
    const Bytes frame = generator.Frame();
    const auto request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    ASSERT_TRUE(request) << request.error().message();
    for (const wire::OperationView& view : request->operations) {
      made.insert(static_cast<wire::Tag>(view.tag));
    }
  }
  // Their answers tell the stores apart: see Twins.
  made.insert({wire::Tag::kImproveIndex, wire::Tag::kListThreads});
  for (const OperationRow& row : Operations()) {
    if (row.tag >= wire::Tag::kFlush) break;
    EXPECT_TRUE(made.contains(row.tag)) << "tag " << static_cast<int>(row.tag);
  }
}

TEST(FuzzSlice, the_memory_and_sqlite_engines_answer_the_same_operations_alike) {
  Repeat(kGeneratedInputs, [](std::uint64_t seed) {
    Random random(seed);
    const Bytes input = RandomBytes(random, 400 + random() % 2000);
    EXPECT_EQ(RunOperations(ByteSource(input)), "") << "seed " << seed;
  });
}

TEST(FuzzSlice, mutated_frames_neither_crash_nor_tell_the_engines_apart) {
  const std::vector<golden::GoldenFrame> frames = golden::GoldenFrames();
  Repeat(kMutatedRounds, [&](std::uint64_t seed) {
    Random random(seed);
    Twins twins;
    for (const golden::GoldenFrame& golden : frames) {
      Bytes frame = golden.request;
      EXPECT_EQ(RunFrame(twins, frame), "") << golden.name << ", seed " << seed;
      for (int mutations = 0; mutations < 8; ++mutations) {
        Mutate(random, frame);
        EXPECT_EQ(RunFrame(twins, frame), "") << golden.name << ", seed " << seed;
      }
    }
  });
}

TEST(FuzzSlice, random_bytes_neither_crash_nor_tell_the_engines_apart) {
  Twins twins;
  Repeat(2000, [&](std::uint64_t seed) {
    Random random(seed);
    Bytes frame = RandomBytes(random, random() % 200);
    EXPECT_EQ(RunFrame(twins, frame), "") << "seed " << seed;
    // And behind a header that lets them through.
    const Bytes header = wire::Encode(wire::RequestHeader());
    frame.insert(frame.begin(), header.begin(), header.end());
    EXPECT_EQ(RunFrame(twins, frame), "") << "seed " << seed;
  });
}

TEST(FuzzSlice, json_is_read_compared_and_filtered_as_another_library_does) {
  Repeat(kJsonInputs, [](std::uint64_t seed) {
    Random random(seed);
    EXPECT_EQ(RunJson(RandomBytes(random, 100 + random() % 1000)), "") << "seed " << seed;
  });
}

}  // namespace
}  // namespace keepsake::fuzz
