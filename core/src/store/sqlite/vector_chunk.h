// A VectorChunk is the codes of a range of slots as bytes of one row: see
// sqlite_vectors.h. Slots without a vector have zeros.
//   chunk := record* number* (text)*
// Behind the records lies the namespace of each slot: a number of 16 bits, the lowest byte first,
// and the encoded namespaces that have the numbers from 1 on. Who looks at codes before the index
// was read goes by it (stored_codes.h). Very long names are left out, with their numbers.
#ifndef KEEPSAKE_STORE_SQLITE_VECTOR_CHUNK_H_
#define KEEPSAKE_STORE_SQLITE_VECTOR_CHUNK_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/varint.h"
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
    // Of its records, which are all that some chunks have.
    std::size_t codes_bytes() const { return slots_ * record_bytes(); }
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

  // The number of a slot's namespace. REQUIRES: Namespaces() has some.
  std::size_t NamespaceAt(std::size_t place) const {
    const std::size_t at = layout_.codes_bytes() + 2 * place;
    return bytes_[at] | static_cast<std::size_t>(bytes_[at + 1]) << 8;
  }
  // By these numbers, from 1 on; none if the chunk does not tell.
  std::vector<std::string_view> Namespaces() const {
    const auto slots = static_cast<std::size_t>(layout_.slots());
    ByteReader rest(bytes_.subspan(layout_.codes_bytes()));
    rest.Take(2 * slots);
    std::vector<std::string_view> namespaces;
    while (rest.ok() && !rest.done()) namespaces.push_back(rest.Text());
    bool is_sound = rest.ok();
    for (std::size_t place = 0; is_sound && place < slots; ++place) {
      is_sound = NamespaceAt(place) <= namespaces.size();
    }
    return is_sound ? namespaces : std::vector<std::string_view>();
  }

 private:
  const Layout& layout_;
  ByteView bytes_;
};

// Makes the bytes of one.
class VectorChunkMaker {
 public:
  // Borrows the layout.
  explicit VectorChunkMaker(const VectorChunk::Layout& layout)
      : layout_(layout),
        bytes_(layout.codes_bytes() + 2 * static_cast<std::size_t>(layout.slots())) {}

  void Add(std::size_t place, std::span<const float> vector, std::string_view encoded_ns) {
    layout_.WriteRecord(vector, &bytes_[place * layout_.record_bytes()]);
    auto known = numbers_.find(encoded_ns);
    if (known == numbers_.end()) {
      known = numbers_.try_emplace(std::string(encoded_ns), numbers_.size() + 1).first;
      AppendText(encoded_ns, names_);
    }
    std::uint8_t* number = &bytes_[layout_.codes_bytes() + 2 * place];
    number[0] = static_cast<std::uint8_t>(known->second);
    number[1] = static_cast<std::uint8_t>(known->second >> 8);
  }

  Bytes Take() {
    if (names_.size() > kMostNames) {
      bytes_.resize(layout_.codes_bytes());
    } else {
      Append(names_, bytes_);
    }
    return std::move(bytes_);
  }

 private:
  // Bytes: with the codes they have to fit into a row of every host. Beyond it they are left out.
  static constexpr std::size_t kMostNames = 500'000;

  const VectorChunk::Layout& layout_;
  Bytes bytes_;
  Bytes names_;
  std::map<std::string, std::size_t, std::less<>> numbers_;
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

// Whether bytes are the codes of just these slots.
inline bool IsSoundChunk(const VectorChunk::Layout& layout, std::size_t dims, std::int64_t first,
                         std::int64_t checksum, ByteView bytes) {
  return bytes.size() >= layout.codes_bytes() && first == layout.FirstOf(first) &&
         checksum == ChunkChecksum(first, dims, bytes);
}

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_VECTOR_CHUNK_H_
