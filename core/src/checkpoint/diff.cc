#include "checkpoint/diff.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/common_prefix.h"
#include "base/hash.h"

namespace keepsake::checkpoint {
namespace {

// Places of the base that are remembered; of a longer one, fewer per byte.
constexpr std::size_t kMaxPlaces = 1 << 16;

// As CommonPrefix().
std::size_t CommonSuffix(ByteView a, ByteView b) {
  const std::size_t length = std::min(a.size(), b.size());
  const std::uint8_t* a_end = a.data() + a.size();
  const std::uint8_t* b_end = b.data() + b.size();
  std::size_t i = 0;
  while (i + 8 <= length && WordAt(a_end - i - 8) == WordAt(b_end - i - 8)) i += 8;
  while (i < length &&
         a_end[-1 - static_cast<std::ptrdiff_t>(i)] == b_end[-1 - static_cast<std::ptrdiff_t>(i)]) {
    ++i;
  }
  return i;
}

// Where windows of the base are. Of equal ones the first. Nearly all that is asked for is not
// there: a bit for what a window begins with tells so, for one multiplication.
class Places {
 public:
  Places(ByteView base, std::size_t window)
      : base_(base), window_(window), stride_(window * (base.size() / (window * kMaxPlaces) + 1)) {
    const std::size_t count = std::bit_ceil(base.size() / stride_ + 1);
    slots_.resize(2 * count, kEmpty);
    beginnings_.resize(std::max<std::size_t>(count * kBitsOfPlace / 64, 1));
    beginning_shift_ = 64 - std::countr_zero(64 * beginnings_.size());
    for (std::size_t at = 0; at + window <= base.size(); at += stride_) Insert(at);
  }

  // From one to the next.
  std::size_t stride() const { return stride_; }

  // base.size() if there is none.
  std::size_t Find(const std::uint8_t* bytes) const {
    const std::size_t beginning = BeginningOf(bytes);
    if ((beginnings_[beginning / 64] >> (beginning % 64) & 1) == 0) return base_.size();
    for (std::size_t slot = SlotOf(bytes);; slot = Next(slot)) {
      if (slots_[slot] == kEmpty) return base_.size();
      if (IsSame(bytes, slots_[slot])) return slots_[slot];
    }
  }

 private:
  static constexpr std::size_t kEmpty = SIZE_MAX;
  static constexpr std::size_t kBitsOfPlace = 16;
  static constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;

  void Insert(std::size_t at) {
    const std::uint8_t* bytes = base_.data() + at;
    const std::size_t beginning = BeginningOf(bytes);
    beginnings_[beginning / 64] |= std::uint64_t{1} << (beginning % 64);
    std::size_t slot = SlotOf(bytes);
    for (; slots_[slot] != kEmpty; slot = Next(slot)) {
      if (IsSame(bytes, slots_[slot])) return;
    }
    slots_[slot] = at;
  }

  std::size_t BeginningOf(const std::uint8_t* bytes) const {
    return static_cast<std::size_t>((WordAt(bytes) * kOdd) >> beginning_shift_);
  }
  std::size_t SlotOf(const std::uint8_t* bytes) const {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < window_; i += 8) hash = (hash + WordAt(bytes + i)) * kOdd;
    // The last bytes of a window, too, are to tell one from another.
    hash = (hash ^ (hash >> 29)) * kOdd;
    return static_cast<std::size_t>(hash >> 32) & (slots_.size() - 1);
  }
  std::size_t Next(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
  bool IsSame(const std::uint8_t* bytes, std::size_t at) const {
    for (std::size_t i = 0; i < window_; i += 8) {
      if (WordAt(bytes + i) != WordAt(base_.data() + at + i)) return false;
    }
    return true;
  }

  ByteView base_;
  std::size_t window_;
  std::size_t stride_;
  std::vector<std::size_t> slots_;
  std::vector<std::uint64_t> beginnings_;  // bits
  int beginning_shift_ = 0;
};

void Push(bool is_copy, std::size_t offset, std::size_t length, std::vector<Edit>& edits) {
  if (length > 0) edits.push_back({is_copy, offset, length});
}

// `shift` is where both middles begin. Where nothing of the target is known, only samples are
// looked up: as many windows in a row as there are bytes from one place to the next. The samples
// are so far apart that a copy of `min_copy` bytes has the windows of one, wherever it begins.
void DiffMiddles(ByteView base, ByteView target, std::size_t shift, std::size_t window,
                 std::size_t min_copy, std::vector<Edit>& edits) {
  std::size_t done = 0;  // of the target
  if (base.size() >= min_copy && target.size() >= min_copy) {
    const Places places(base, window);
    const std::size_t sample = places.stride();
    const std::size_t samples = std::max<std::size_t>((min_copy - window + 1) / sample, 1);
    std::size_t left = sample;  // of the sample
    bool is_known = false;      // something of it
    for (std::size_t at = 0; at + window <= target.size(); ++at) {
      if (left-- == 0) {
        if (!is_known) at += (samples - 1) * sample;
        if (at + window > target.size()) break;
        left = sample - 1;
        is_known = false;
      }
      std::size_t from = places.Find(target.data() + at);
      if (from == base.size()) continue;
      is_known = true;
      const std::size_t back = CommonSuffix(base.first(from), target.subspan(done, at - done));
      const std::size_t ahead = CommonPrefix(base.subspan(from), target.subspan(at));
      if (back + ahead < min_copy) continue;
      Push(false, shift + done, at - back - done, edits);
      Push(true, shift + from - back, back + ahead, edits);
      done = at + ahead;
      at = done - 1;
      left = sample;
    }
  }
  Push(false, shift + done, target.size() - done, edits);
}

}  // namespace

std::vector<Edit> Diff(ByteView base, ByteView target, std::size_t window, std::size_t min_copy) {
  std::vector<Edit> edits;
  const std::size_t prefix = CommonPrefix(base, target);
  const std::size_t suffix = CommonSuffix(base.subspan(prefix), target.subspan(prefix));
  Push(true, 0, prefix, edits);
  DiffMiddles(base.subspan(prefix, base.size() - prefix - suffix),
              target.subspan(prefix, target.size() - prefix - suffix), prefix, window, min_copy,
              edits);
  Push(true, base.size() - suffix, suffix, edits);
  return edits;
}

}  // namespace keepsake::checkpoint
