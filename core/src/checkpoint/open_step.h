// What stays of a checkpoint's writes where its superstep is to be done anew: what was asked, and
// what whoever resumed it wrote besides an answer.
#ifndef KEEPSAKE_CHECKPOINT_OPEN_STEP_H_
#define KEEPSAKE_CHECKPOINT_OPEN_STEP_H_

#include <cstdint>
#include <string_view>

namespace keepsake::checkpoint {

// LangGraph's WRITES_IDX_MAP, and the task of what a Command writes.
inline constexpr std::int32_t kInterruptIdx = -3;
inline constexpr std::string_view kCommandTask = "00000000-0000-0000-0000-000000000000";

inline bool IsInterrupt(std::int32_t idx) { return idx == kInterruptIdx; }

inline bool StaysOpen(std::string_view task_id, std::int32_t idx) {
  return IsInterrupt(idx) || (task_id == kCommandTask && idx >= 0);
}

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_OPEN_STEP_H_
