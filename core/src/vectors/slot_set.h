// A set of slots, as bits: what a filter leaves of an index.
#ifndef KEEPSAKE_VECTORS_SLOT_SET_H_
#define KEEPSAKE_VECTORS_SLOT_SET_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace keepsake::search {

using Slot = std::uint64_t;

inline constexpr std::size_t kChunkSlots = 1024;
// Those of the slots of a chunk.
using ChunkBits = std::array<std::uint64_t, kChunkSlots / 64>;

class SlotSet {
 public:
  bool Has(Slot slot) const {
    const ChunkBits* bits = Of(static_cast<std::size_t>(slot / kChunkSlots));
    return bits != nullptr && ((*bits)[slot % kChunkSlots / 64] >> slot % 64 & 1) != 0;
  }
  // Null where it has none.
  const ChunkBits* Of(std::size_t chunk) const {
    return chunk < first_ || chunk - first_ >= bits_.size() ? nullptr : &bits_[chunk - first_];
  }
  // REQUIRES: chunks ascend.
  void Append(std::size_t chunk, const ChunkBits& bits) {
    if (bits_.empty()) first_ = chunk;
    bits_.resize(chunk - first_);
    bits_.push_back(bits);
  }
  void Intersect(const SlotSet& other) {
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      const ChunkBits* bits = other.Of(first_ + i);
      for (std::size_t w = 0; w < bits_[i].size(); ++w) {
        bits_[i][w] &= bits == nullptr ? 0 : (*bits)[w];
      }
    }
  }
  // All of them, ascending.
  std::vector<Slot> Slots() const {
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      for (std::size_t w = 0; w < bits_[i].size(); ++w) {
        for (std::uint64_t word = bits_[i][w]; word != 0; word &= word - 1) {
          slots.push_back(Slot{first_ + i} * kChunkSlots + w * 64 +
                          static_cast<Slot>(std::countr_zero(word)));
        }
      }
    }
    return slots;
  }
  std::size_t Count() const {
    std::size_t count = 0;
    for (const ChunkBits& bits : bits_) {
      for (const std::uint64_t word : bits) count += static_cast<std::size_t>(std::popcount(word));
    }
    return count;
  }

 private:
  std::size_t first_ = 0;
  std::vector<ChunkBits> bits_;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_SLOT_SET_H_
