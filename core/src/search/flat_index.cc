#include "search/flat_index.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace keepsake::search {

// Collects rows until there is a block of them, and scores it.
class FlatIndex::BlockScan {
 public:
  BlockScan(const FlatIndex& index, const CodedQuery& query, std::vector<Candidate>* candidates)
      : index_(index), query_(query), candidates_(candidates) {}

  void Add(const Chunk& chunk, Slot slot) {
    slots_[count_] = slot;
    scales_[count_] = chunk.scales[slot % kChunkSlots];
    rows_[count_] = &chunk.codes[slot % kChunkSlots * index_.code_bytes()];
    if (++count_ == kBlock) Flush();
  }

  void Flush() {
    if (count_ == 0) return;
    for (std::size_t r = count_; r < kBlock; ++r) rows_[r] = rows_[0];
    const CodeDots dots = index_.quantizer_.DotBlock(query_.code, rows_);
    for (std::size_t r = 0; r < count_; ++r) {
      candidates_->push_back({slots_[r], BoundOf(dots[r], scales_[r])});
    }
    count_ = 0;
  }

 private:
  float BoundOf(std::int32_t dot, CodeScale row) const {
    const float product = static_cast<float>(dot) * query_.scale.scale * row.scale;
    const float bound = product + query_.error.Of(row);
    if (index_.metric_ != Metric::kL2sq) return bound;
    return 2 * bound - query_.scale.norm * query_.scale.norm - row.norm * row.norm;
  }

  const FlatIndex& index_;
  const CodedQuery& query_;
  std::vector<Candidate>* candidates_;
  std::size_t count_ = 0;
  std::array<Slot, kBlock> slots_;
  std::array<CodeScale, kBlock> scales_;
  CodeRows rows_;
};

std::size_t FlatIndex::capacity() const {
  std::size_t slots = 0;
  for (const auto& chunk : chunks_) {
    if (chunk != nullptr) slots += chunk->scales.size();
  }
  return slots;
}

FlatIndex::Chunk& FlatIndex::MakeChunkOf(Slot slot) {
  const std::size_t number = static_cast<std::size_t>(slot / kChunkSlots);
  if (chunks_.empty()) first_chunk_ = number;
  if (number < first_chunk_) {
    const std::size_t missing = first_chunk_ - number;
    chunks_.resize(chunks_.size() + missing);
    std::ranges::rotate(chunks_, chunks_.end() - static_cast<std::ptrdiff_t>(missing));
    first_chunk_ = number;
  }
  if (number >= end_chunk()) chunks_.resize(number - first_chunk_ + 1);
  std::unique_ptr<Chunk>& chunk = chunks_[number - first_chunk_];
  if (chunk == nullptr) chunk = std::make_unique<Chunk>();
  return *chunk;
}

std::uint8_t* FlatIndex::MakeRoom(Chunk& chunk, Slot slot) {
  const std::size_t place = slot % kChunkSlots;
  if (chunk.scales.size() <= place) {
    chunk.codes.resize((place + 1) * code_bytes());
    chunk.scales.resize(place + 1);
    chunk.owners.resize(place + 1);
  }
  return &chunk.codes[place * code_bytes()];
}

std::uint8_t* FlatIndex::MakeLive(Slot slot, Owner owner, CodeScale** scale) {
  Chunk& chunk = MakeChunkOf(slot);
  std::uint8_t* code = MakeRoom(chunk, slot);
  chunk.Flip(slot);
  ++chunk.size;
  ++size_;
  chunk.owners[slot % kChunkSlots] = owner;
  *scale = &chunk.scales[slot % kChunkSlots];
  return code;
}

void FlatIndex::AddDeadCode(Slot slot, CodeScale scale, std::span<const std::uint8_t> code) {
  if (ChunkOf(slot) == nullptr) return;
  Chunk& chunk = *chunks_[slot / kChunkSlots - first_chunk_];
  std::memcpy(MakeRoom(chunk, slot), code.data(), code.size());
  chunk.scales[slot % kChunkSlots] = scale;
}

void FlatIndex::Add(Slot slot, Owner owner, std::span<const float> vector) {
  CodeScale* scale;
  std::uint8_t* code = MakeLive(slot, owner, &scale);
  *scale = EncodeRow(vector, code);
}

void FlatIndex::AddCode(Slot slot, Owner owner, CodeScale scale,
                        std::span<const std::uint8_t> code) {
  // Codes come by whole chunks.
  Chunk& chunk = MakeChunkOf(slot);
  if (chunk.scales.empty()) {
    chunk.codes.reserve(kChunkSlots * code_bytes());
    chunk.scales.reserve(kChunkSlots);
    chunk.owners.reserve(kChunkSlots);
  }
  CodeScale* place;
  std::memcpy(MakeLive(slot, owner, &place), code.data(), code.size());
  *place = scale;
}

bool FlatIndex::Remove(Slot slot) {
  if (!Has(slot)) return false;
  std::unique_ptr<Chunk>& chunk = chunks_[slot / kChunkSlots - first_chunk_];
  chunk->Flip(slot);
  --size_;
  if (--chunk->size > 0) return true;
  chunk.reset();
  const auto living = std::ranges::find_if(chunks_, [](const auto& c) { return c != nullptr; });
  first_chunk_ += static_cast<std::size_t>(living - chunks_.begin());
  chunks_.erase(chunks_.begin(), living);
  return true;
}

void FlatIndex::Move(Slot from, Slot to) {
  const CodeRow row = RowOf(from);
  const std::vector<std::uint8_t> code(row.code, row.code + code_bytes());
  AddCode(to, OwnerOf(from), row.scale, code);
  Remove(from);
}

std::optional<std::size_t> FlatIndex::SparsestChunk(const std::set<std::size_t>& except) const {
  std::optional<std::size_t> sparsest;
  std::size_t fewest = kChunkSlots / 4 + 1;
  for (std::size_t i = 0; i + 1 < chunks_.size(); ++i) {
    const Chunk* chunk = chunks_[i].get();
    if (chunk == nullptr || chunk->size >= fewest || except.contains(first_chunk_ + i)) continue;
    sparsest = first_chunk_ + i;
    fewest = chunk->size;
  }
  return sparsest;
}

std::vector<Slot> FlatIndex::SlotsIn(std::size_t chunk) const {
  std::vector<Slot> slots;
  const Slot first = Slot{chunk} * kChunkSlots;
  for (Slot slot = first; slot < first + kChunkSlots; ++slot) {
    if (Has(slot)) slots.push_back(slot);
  }
  return slots;
}

std::size_t FlatIndex::CountFrom(Slot slot) const {
  std::size_t count = 0;
  for (std::size_t i = chunks_.size(); i-- > 0;) {
    const std::size_t number = first_chunk_ + i;
    if (number < slot / kChunkSlots) break;
    if (chunks_[i] == nullptr) continue;
    if (number > slot / kChunkSlots) {
      count += chunks_[i]->size;
    } else {
      count += static_cast<std::size_t>(
          std::ranges::count_if(SlotsIn(number), [slot](Slot other) { return other >= slot; }));
    }
  }
  return count;
}

std::optional<Slot> FlatIndex::FirstFrom(Slot slot) const {
  slot = std::max<Slot>(slot, Slot{first_chunk_} * kChunkSlots);
  while (slot / kChunkSlots < end_chunk()) {
    const Chunk* chunk = ChunkOf(slot);
    if (chunk == nullptr) {
      slot = (slot / kChunkSlots + 1) * kChunkSlots;
    } else if (const std::uint64_t rest = chunk->living[slot % kChunkSlots / 64] >> slot % 64) {
      return slot + static_cast<Slot>(std::countr_zero(rest));
    } else {
      slot = (slot / 64 + 1) * 64;
    }
  }
  return std::nullopt;
}

CodedQuery FlatIndex::Encode(std::span<const float> query) const {
  std::vector<std::int16_t> code;
  const CodeScale scale = quantizer_.EncodeQuery(query, Normalizes(), &code);
  return {.code = std::move(code), .scale = scale, .error = DotError(scale, quantizer_.dims())};
}

void FlatIndex::Scan(const CodedQuery& query, std::vector<Candidate>* candidates) const {
  candidates->reserve(candidates->size() + size_);
  BlockScan scan(*this, query, candidates);
  for (std::size_t number = 0; number < chunks_.size(); ++number) {
    const Chunk* chunk = chunks_[number].get();
    if (chunk == nullptr) continue;
    Slot first = Slot{first_chunk_ + number} * kChunkSlots;
    for (std::uint64_t word : chunk->living) {
      for (; word != 0; word &= word - 1) {
        scan.Add(*chunk, first + static_cast<Slot>(std::countr_zero(word)));
      }
      first += 64;
    }
  }
  scan.Flush();
}

void FlatIndex::Scan(const CodedQuery& query, std::span<const Slot> slots,
                     std::vector<Candidate>* candidates) const {
  candidates->reserve(candidates->size() + slots.size());
  BlockScan scan(*this, query, candidates);
  for (const Slot slot : slots) {
    const Chunk* chunk = ChunkOf(slot);
    if (chunk != nullptr && chunk->Has(slot)) scan.Add(*chunk, slot);
  }
  scan.Flush();
}

}  // namespace keepsake::search
