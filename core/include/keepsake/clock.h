// Where time comes from: stores and savers are given a Clock, so tests own time.
#ifndef KEEPSAKE_CLOCK_H_
#define KEEPSAKE_CLOCK_H_

#include <cstdint>

namespace keepsake {

class Clock {
 public:
  virtual ~Clock() = default;
  // Milliseconds since 1970-01-01T00:00:00Z.
  virtual std::int64_t NowMs() const = 0;
};

// The machine's clock. Lives for the whole program.
const Clock& SystemClock();

// Stands still until it is set.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t now_ms = 0) : now_ms_(now_ms) {}
  std::int64_t NowMs() const override { return now_ms_; }
  void Set(std::int64_t now_ms) { now_ms_ = now_ms; }
  void Advance(std::int64_t by_ms) { now_ms_ += by_ms; }

 private:
  std::int64_t now_ms_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_CLOCK_H_
