// A FlatIndex holds the codes of vectors in chunks of 1,024 slots, each with a bitmap
// of the living, and scans them. A slot is a number that its vector keeps for life; slots
// are given in ascending order, and what is left of a chunk goes with its last vector.
//
// A scan gives each vector an upper bound of its score, which is its score from codes
// plus what rounding may hide. Whoever reads the float32 rows of the best, until no bound
// of the rest reaches what is found, has the exact answer.
#ifndef KEEPSAKE_VECTORS_FLAT_INDEX_H_
#define KEEPSAKE_VECTORS_FLAT_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "vectors/code_scan.h"
#include "vectors/metric.h"
#include "vectors/quantizer.h"
#include "vectors/shortlist.h"
#include "vectors/slot_set.h"

namespace keepsake::search {

// Whose a vector is. Both numbers are the caller's.
struct Owner {
  std::uint64_t item = 0;
  std::uint32_t group = 0;
};

class FlatIndex {
 public:
  static constexpr std::size_t kChunkSlots = search::kChunkSlots;

  FlatIndex(std::size_t dims, Metric metric, CodeKind kind)
      : quantizer_(kind, dims),
        metric_(metric),
        code_bytes_(quantizer_.code_bytes()),
        sign_words_(kind == CodeKind::kInt8 && metric == Metric::kCosine && dims >= kSignDims
                        ? PaddedDims(dims) / 64
                        : 0) {}

  std::size_t size() const { return size_; }
  std::size_t dims() const { return quantizer_.dims(); }
  // Slots that take up memory, living or not.
  std::size_t capacity() const;

  // REQUIRES: `slot` is vacant; slots mostly ascend. A gap costs what a vector costs.
  void Add(Slot slot, Owner owner, std::span<const float> vector);
  // Of a code that Encode() made once.
  void AddCode(Slot slot, Owner owner, CodeScale scale, std::span<const std::uint8_t> code);
  // The code of a vector that died, for who walks over it. Does nothing if no chunk is there.
  void AddDeadCode(Slot slot, CodeScale scale, std::span<const std::uint8_t> code);
  // False if there is none.
  bool Remove(Slot slot);
  // A vector changes its slot, to a vacant one.
  void Move(Slot from, Slot to);

  bool Has(Slot slot) const { return ChunkOf(slot) != nullptr && ChunkOf(slot)->Has(slot); }
  // REQUIRES: Has(slot).
  Owner OwnerOf(Slot slot) const { return ChunkOf(slot)->owners[slot % kChunkSlots]; }
  // The code of a vector, also of one that died, as long as its chunk is there; else null.
  struct CodeRow {
    const std::uint8_t* code = nullptr;
    CodeScale scale;
  };
  CodeRow RowOf(Slot slot) const {
    const Chunk* chunk = ChunkOf(slot);
    const std::size_t place = slot % kChunkSlots;
    if (chunk == nullptr || place >= chunk->scales.size()) return {};
    return {&chunk->codes[place * code_bytes()], chunk->scales[place]};
  }
  // Of chunks but the last and `except`, the one that has the fewest vectors, if it has
  // a quarter of what it could have or less: what is worth moving, so that churn can't
  // fill memory.
  std::optional<std::size_t> SparsestChunk(const std::set<std::size_t>& except) const;
  std::vector<Slot> SlotsIn(std::size_t chunk) const;

  CodedQuery Encode(std::span<const float> query) const;
  // A query for what is near a vector, as far as its code tells. REQUIRES: Has(slot).
  CodedQuery QueryOf(Slot slot) const { return QueryBetween(slot, slot); }
  // For what is near the middle between two. REQUIRES: Has() both.
  CodedQuery QueryBetween(Slot a, Slot b) const;
  CodeScale EncodeRow(std::span<const float> vector, std::uint8_t* code) const {
    return quantizer_.Encode(vector, Normalizes(), code);
  }
  std::size_t code_bytes() const { return code_bytes_; }

  // Living vectors from a slot on, and the first of them.
  std::size_t CountFrom(Slot slot) const;
  std::optional<Slot> FirstFrom(Slot slot) const;

  // What a scan goes over: vectors that live,
  struct Scope {
    std::vector<std::span<const Slot>> lists = {};  // in these lists, or all
    const SlotSet* among = nullptr;                 // that are in this set, or all
    const std::vector<bool>* groups = nullptr;      // whose group is one of these, or all
    bool has_lists = false;
    // At most so many; of very many only those are scored whose signs are like the query's.
    std::size_t count = 0;
  };
  // Gives candidates. `wanted` is 0 if each of them must be. True if signs chose them.
  bool Scan(const CodedQuery& query, const Scope& scope, std::size_t wanted,
            Shortlist& candidates) const;
  void Scan(const CodedQuery& query, Shortlist& candidates) const {
    Scan(query, Scope(), 0, candidates);
  }
  // Gives all as candidates whose scores nothing is known of.
  void List(const Scope& scope, Shortlist& candidates) const;

 private:
  struct Chunk {
    ChunkBits living = {};
    std::size_t size = 0;
    std::vector<std::uint8_t> codes;  // as far as slots were used
    std::vector<CodeScale> scales;
    std::vector<Owner> owners;
    std::vector<std::uint64_t> signs;  // sign_words_ of each

    bool Has(Slot slot) const { return living[slot % kChunkSlots / 64] >> slot % 64 & 1; }
    void Flip(Slot slot) { living[slot % kChunkSlots / 64] ^= std::uint64_t{1} << slot % 64; }
  };
  class SignScan;

  bool Normalizes() const { return metric_ == Metric::kCosine; }
  std::size_t end_chunk() const { return first_chunk_ + chunks_.size(); }
  const Chunk* ChunkOf(Slot slot) const {
    const auto number = static_cast<std::size_t>(slot / kChunkSlots);
    if (number < first_chunk_ || number >= end_chunk()) return nullptr;
    return chunks_[number - first_chunk_].get();
  }
  // take(chunk, slot) of what is in the scope.
  template <typename Taker>
  void Feed(const Scope& scope, Taker take) const;
  void WriteSigns(Slot slot);
  // Of the slots in a word of a chunk's bits, those whose group is in `groups`.
  static std::uint64_t InGroups(const Chunk& chunk, std::size_t word_at, std::uint64_t word,
                                const std::vector<bool>& groups);
  Chunk& MakeChunkOf(Slot slot);
  // The code of a slot, which `chunk` has room for from now on.
  std::uint8_t* MakeRoom(Chunk& chunk, Slot slot);
  // Room for the code of a vector that lives, which is about to be written.
  std::uint8_t* MakeLive(Slot slot, Owner owner, CodeScale** scale);

  // With fewer dimensions signs tell too little.
  static constexpr std::size_t kSignDims = 256;

  Quantizer quantizer_;
  Metric metric_;
  std::size_t code_bytes_;
  std::size_t sign_words_;
  mutable std::uint32_t signs_failed_ = 0, signs_rest_ = 0;
  std::size_t size_ = 0;
  std::size_t first_chunk_ = 0;
  std::vector<std::unique_ptr<Chunk>> chunks_;  // none where nothing lives
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_FLAT_INDEX_H_
