// A VectorChunk is the codes of a range of slots as bytes of one row: see
// sqlite_vectors.h. Slots without a vector have zeros.
#ifndef KEEPSAKE_STORE_SQLITE_VECTOR_CHUNK_H_
#define KEEPSAKE_STORE_SQLITE_VECTOR_CHUNK_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "keepsake/bytes.h"
#include "vectors/quantizer.h"

namespace keepsake {

class VectorChunk {
 public:
  // How vectors of one length are laid out. Persistent.
  class Layout {
   public:
    explicit Layout(std::size_t dims)
        : quantizer_(search::CodeKind::kInt8, dims),
          slots_(std::min<std::size_t>(kMaxSlots, std::bit_floor(kMaxBytes / record_bytes()))) {}

    std::int64_t slots() const { return static_cast<std::int64_t>(slots_); }
    std::size_t record_bytes() const { return sizeof(search::CodeScale) + quantizer_.code_bytes(); }
    std::size_t chunk_bytes() const { return slots_ * record_bytes(); }
    // The first slot of the chunk that has this one.
    std::int64_t FirstOf(std::int64_t slot) const { return slot / slots() * slots(); }

    void WriteRecord(std::span<const float> vector, std::uint8_t* record) const {
      const search::CodeScale scale =
          quantizer_.Encode(vector, true, record + sizeof(search::CodeScale));
      std::memcpy(record, &scale, sizeof(scale));
    }

   private:
    static constexpr std::size_t kMaxSlots = 1024;
    static constexpr std::size_t kMaxBytes = 1'000'000;  // what every host takes in a row

    search::Quantizer quantizer_;
    std::size_t slots_;
  };

  VectorChunk(const Layout& layout, ByteView bytes) : layout_(layout), bytes_(bytes) {}

  // Of a slot's place within the chunk.
  search::CodeScale ScaleAt(std::size_t place) const {
    search::CodeScale scale;
    std::memcpy(&scale, &bytes_[place * layout_.record_bytes()], sizeof(scale));
    return scale;
  }
  ByteView CodeAt(std::size_t place) const {
    return bytes_.subspan(place * layout_.record_bytes() + sizeof(search::CodeScale),
                          layout_.record_bytes() - sizeof(search::CodeScale));
  }

 private:
  const Layout& layout_;
  ByteView bytes_;
};

// Changes with every bit of the bytes, and with where they belong: each step is
// one-to-one in the word and in what came before it. Of the 64 bits that come out the
// lowest 53 are kept, since some hosts read no larger numbers. Persistent; rows that were
// written earlier have all 64, of which a reader takes the same.
inline constexpr std::uint64_t kChunkChecksumMask = (std::uint64_t{1} << 53) - 1;
inline std::int64_t ChunkChecksum(std::int64_t first_slot, std::size_t dims, ByteView bytes) {
  constexpr std::uint64_t kFactor = 0x9E37'79B9'7F4A'7C15;
  const auto mix = [](std::uint64_t hash, std::uint64_t word) {
    return std::rotl((hash ^ word) * kFactor, 29);
  };
  std::uint64_t hash = mix(mix(bytes.size(), static_cast<std::uint64_t>(first_slot)), dims);
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, &bytes[i], sizeof(word));
    hash = mix(hash, word);
  }
  for (; i < bytes.size(); ++i) hash = mix(hash, bytes[i]);
  return static_cast<std::int64_t>(hash & kChunkChecksumMask);
}

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_VECTOR_CHUNK_H_
