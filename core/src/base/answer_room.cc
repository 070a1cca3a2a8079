#include "base/answer_room.h"

#include <algorithm>
#include <new>
#include <string>

namespace keepsake {
namespace {

// What writes leave is enough for less.
constexpr std::size_t kUnasked = std::size_t{4} << 20;
constexpr std::size_t kMegabyte = std::size_t{1} << 20;

thread_local AnswerRoom* current = nullptr;

// Whether there is room for both, each in one piece. Not by expressions of new: a compiler may
// leave those out, and take them for granted.
bool HasRoom(std::size_t one, std::size_t other) {
  void* blocks[] = {::operator new(one, std::nothrow), ::operator new(other, std::nothrow)};
  const bool has_room = blocks[0] != nullptr && blocks[1] != nullptr;
  for (void* block : blocks) ::operator delete(block);
  return has_room;
}

Status TooLarge(const char* what, std::size_t bytes) {
  return {StatusCode::kTooLarge, std::string(what) + std::to_string(bytes / kMegabyte) +
                                     " MB: ask for less at a time, with a smaller limit"};
}

}  // namespace

AnswerRoom::AnswerRoom(std::size_t most) : most_(most), outer_(current) { current = this; }

AnswerRoom::~AnswerRoom() { current = outer_; }

Status AnswerRoom::Take(std::size_t bytes) {
  return current == nullptr ? Status() : current->Add(bytes);
}

std::size_t AnswerRoom::taken() { return current == nullptr ? 0 : current->taken_; }

Status AnswerRoom::Add(std::size_t bytes) {
  const std::size_t before = taken_;
  taken_ += bytes;
  if (taken_ > most_) return TooLarge("an answer may take at most ", most_);
  if (taken_ <= std::max(found_, kUnasked)) return {};
  // Values as they are collected, and the response; for as much again, so that few ask.
  for (const std::size_t wanted : {std::min(most_, 2 * taken_), taken_}) {
    if (!HasRoom(wanted - before, wanted + wanted / 8 + kMegabyte)) continue;
    found_ = wanted;
    return {};
  }
  return TooLarge("memory has no room for an answer of ", taken_);
}

Status FindRoom(std::uint64_t bytes) {
  if (bytes <= kUnasked) return {};
  const bool is_possible = bytes <= PTRDIFF_MAX;
  if (is_possible && HasRoom(static_cast<std::size_t>(bytes), kMegabyte)) return {};
  return {StatusCode::kStorageFull, "memory has no room for " + std::to_string(bytes / kMegabyte) +
                                        " MB more: nothing was done; delete something"};
}

}  // namespace keepsake
