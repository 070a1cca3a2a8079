#include "keepsake/clock.h"

#include <chrono>

namespace keepsake {
namespace {

class MachineClock final : public Clock {
 public:
  std::int64_t NowMs() const override {
    using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::system_clock;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  }
};

}  // namespace

const Clock& SystemClock() {
  static const MachineClock clock;
  return clock;
}

}  // namespace keepsake
