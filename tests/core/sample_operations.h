// Operations for tests that are about frames and not about what is in them.
#ifndef KEEPSAKE_TESTS_CORE_SAMPLE_OPERATIONS_H_
#define KEEPSAKE_TESTS_CORE_SAMPLE_OPERATIONS_H_

#include <string>
#include <utility>

#include "../golden/golden_frames.h"

namespace keepsake::sample {

// All of them in the namespace ("a").
inline PutOp Put(std::string key, std::string value = "1") {
  return {
      .ns = {"a"}, .key = std::move(key), .value = std::move(value), .index = {}, .vectors = {}};
}
inline GetOp Get(std::string key) { return {{"a"}, std::move(key)}; }

// The checkpoint "c1", without channels.
inline NewCheckpoint Checkpoint(std::string thread_id) {
  return {.key = {std::move(thread_id), "", "c1"},
          .parent_checkpoint_id = "",
          .checkpoint = golden::JsonBlob("{}"),
          .metadata = golden::JsonBlob("{}"),
          .channel_versions = {},
          .new_versions = {},
          .values = {}};
}

}  // namespace keepsake::sample

#endif  // KEEPSAKE_TESTS_CORE_SAMPLE_OPERATIONS_H_
