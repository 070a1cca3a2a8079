#include "vectors/flat_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

namespace keepsake::search {
namespace {

// Vectors for each one wanted from which signs are looked at first.
constexpr std::size_t kSignsFrom = 200;

// Searches for which signs that told nothing, again and again, are not looked at.
constexpr std::uint32_t kLongestRest = 63;

// The signs of 64 dimensions of an int8 code, in an order of their own.
std::uint64_t SignBits(const std::uint8_t* code) {
  std::uint64_t signs = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    std::uint64_t bytes;
    std::memcpy(&bytes, code + 8 * i, sizeof(bytes));
    const std::uint64_t eight =
        ((bytes >> 7 & 0x0101'0101'0101'0101) * 0x0102'0408'1020'4080) >> 56;
    signs |= eight << 8 * i;
  }
  return signs;
}

}  // namespace

// Takes the signs of a code for the code: as many rows as have the least Hamming distance
// from the query, and then as many more as the distances of the best of those ask for.
class FlatIndex::SignScan {
 public:
  SignScan(const FlatIndex& index, const CodedQuery& query, std::size_t count)
      : index_(index),
        query_(query),
        words_(index.sign_words_),
        slots_(count),
        distances_(count),
        counts_(words_ * 64 + 1) {}

  void Add(const Chunk& chunk, Slot slot) {
    const std::uint64_t* row = &chunk.signs[slot % kChunkSlots * words_];
    std::size_t distance = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      distance += static_cast<std::size_t>(std::popcount(query_.signs[w] ^ row[w]));
    }
    slots_[size_] = slot;
    distances_[size_++] = static_cast<std::uint16_t>(distance);
    ++counts_[distance];
  }

  // False, and no candidates, if signs don't tell the best from the rest.
  bool Finish(std::size_t wanted, Shortlist& candidates) {
    Shortlist list = candidates;
    const std::size_t first = DistanceOf(std::max(kFirstPerWanted * wanted, size_ / 256));
    if (CountWithin(first) > size_ / kMostAlike) return false;
    Score(0, first, list);
    const std::size_t reach = ReachOf(list.candidates(), wanted);
    if (reach > first) {
      if (CountWithin(reach) > size_ / kMostShare) return false;
      Score(first + 1, reach, list);
    }
    candidates = std::move(list);
    return true;
  }

 private:
  // Rows further apart cost more each.
  static constexpr std::size_t kMostShare = 6;
  // So many as near as the first ones: telling that costs less than scoring them.
  static constexpr std::size_t kMostAlike = 2;
  static constexpr std::size_t kFirstPerWanted = 32;
  static constexpr double kDeviations = 4;

  // Up to which there are so many.
  std::size_t DistanceOf(std::size_t count) const {
    std::size_t distance = 0;
    for (std::size_t sum = counts_[0]; sum < count && distance + 1 < counts_.size();) {
      sum += counts_[++distance];
    }
    return distance;
  }

  std::size_t CountWithin(std::size_t distance) const {
    const auto end = counts_.begin() + static_cast<std::ptrdiff_t>(distance) + 1;
    return std::accumulate(counts_.begin(), end, std::size_t{0});
  }

  void Score(std::size_t first, std::size_t last, Shortlist& candidates) const {
    CodeScan scan(index_.quantizer_, index_.metric_, query_, candidates);
    for (std::size_t i = 0; i < size_; ++i) {
      if (distances_[i] < first || distances_[i] > last) continue;
      const CodeRow row = index_.RowOf(slots_[i]);
      scan.Add(slots_[i], row.scale, row.code);
    }
    scan.Flush();
  }

  // How far from the query one may be that is as good as the best: distances of equally good
  // ones deviate as those of coins do, or as they are seen to.
  std::size_t ReachOf(std::vector<Candidate> best, std::size_t wanted) const {
    const std::size_t count = std::min(wanted, best.size());
    std::ranges::partial_sort(best, best.begin() + static_cast<std::ptrdiff_t>(count),
                              std::greater(), &Candidate::bound);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t* signs =
          &index_.ChunkOf(best[i].slot)->signs[best[i].slot % kChunkSlots * words_];
      const double distance = Hamming(query_.signs, signs);
      sum += distance;
      squares += distance * distance;
    }
    const double n = static_cast<double>(std::max<std::size_t>(count, 1)), mean = sum / n;
    const double share = mean / static_cast<double>(index_.quantizer_.dims());
    const double variance = std::max(squares / n - mean * mean, mean * (1 - share));
    const double reach = mean + kDeviations * std::sqrt(std::max(variance, 0.0));
    return std::min(static_cast<std::size_t>(reach), counts_.size() - 1);
  }

  const FlatIndex& index_;
  const CodedQuery& query_;
  std::size_t words_;
  std::size_t size_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint16_t> distances_;  // parallel to slots_
  std::vector<std::size_t> counts_;       // by distance
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
    chunk.signs.resize((place + 1) * sign_words_);
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
  WriteSigns(slot);
}

void FlatIndex::AddCode(Slot slot, Owner owner, CodeScale scale,
                        std::span<const std::uint8_t> code) {
  // Codes come by whole chunks.
  Chunk& chunk = MakeChunkOf(slot);
  if (chunk.scales.empty()) {
    chunk.codes.reserve(kChunkSlots * code_bytes());
    chunk.scales.reserve(kChunkSlots);
    chunk.owners.reserve(kChunkSlots);
    chunk.signs.reserve(kChunkSlots * sign_words_);
  }
  // Copied to its place at once: room is made of zeros, which a vector writes one by one.
  if (chunk.scales.size() == slot % kChunkSlots) {
    chunk.codes.insert(chunk.codes.end(), code.begin(), code.end());
  }
  CodeScale* place;
  std::memcpy(MakeLive(slot, owner, &place), code.data(), code.size());
  *place = scale;
  WriteSigns(slot);
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
      const std::size_t first = slot % kChunkSlots / 64;
      for (std::size_t w = first; w < chunks_[i]->living.size(); ++w) {
        const std::uint64_t rest = chunks_[i]->living[w] >> (w == first ? slot % 64 : 0);
        count += static_cast<std::size_t>(std::popcount(rest));
      }
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
  std::vector<std::uint64_t> signs(sign_words_);
  const std::vector<std::uint8_t> bytes(code.begin(), code.end());
  for (std::size_t w = 0; w < sign_words_; ++w) signs[w] = SignBits(&bytes[w * 64]);
  return {.code = std::move(code),
          .signs = std::move(signs),
          .scale = scale,
          .error = DotError(scale, quantizer_.dims())};
}

CodedQuery FlatIndex::QueryBetween(Slot a, Slot b) const {
  const CodeRow first = RowOf(a), second = RowOf(b);
  std::vector<float> vector(dims());
  for (std::size_t i = 0; i < vector.size(); ++i) {
    vector[i] = first.scale.scale * static_cast<float>(static_cast<std::int8_t>(first.code[i])) +
                second.scale.scale * static_cast<float>(static_cast<std::int8_t>(second.code[i]));
  }
  return Encode(vector);
}

void FlatIndex::WriteSigns(Slot slot) {
  Chunk& chunk = *chunks_[slot / kChunkSlots - first_chunk_];
  const std::size_t place = slot % kChunkSlots;
  for (std::size_t w = 0; w < sign_words_; ++w) {
    chunk.signs[place * sign_words_ + w] = SignBits(&chunk.codes[place * code_bytes() + w * 64]);
  }
}

template <typename Taker>
void FlatIndex::Feed(const Scope& scope, Taker take) const {
  for (const std::span<const Slot> list : scope.lists) {
    for (const Slot slot : list) {
      const Chunk* chunk = ChunkOf(slot);
      if (chunk == nullptr || !chunk->Has(slot)) continue;
      if (scope.among == nullptr || scope.among->Has(slot)) take(*chunk, slot);
    }
  }
  if (scope.has_lists) return;
  for (std::size_t number = 0; number < chunks_.size(); ++number) {
    const Chunk* chunk = chunks_[number].get();
    const ChunkBits* bits =
        scope.among == nullptr ? nullptr : scope.among->Of(first_chunk_ + number);
    if (chunk == nullptr || (scope.among != nullptr && bits == nullptr)) continue;
    const Slot first = Slot{first_chunk_ + number} * kChunkSlots;
    for (std::size_t w = 0; w < chunk->living.size(); ++w) {
      std::uint64_t word = chunk->living[w] & (bits == nullptr ? ~std::uint64_t{0} : (*bits)[w]);
      if (scope.groups != nullptr) word = InGroups(*chunk, w, word, *scope.groups);
      for (; word != 0; word &= word - 1) {
        take(*chunk, first + 64 * w + static_cast<Slot>(std::countr_zero(word)));
      }
    }
  }
}

bool FlatIndex::Scan(const CodedQuery& query, const Scope& scope, std::size_t wanted,
                     Shortlist& candidates) const {
  if (wanted > 0 && sign_words_ > 0 && scope.count >= kSignsFrom * wanted) {
    if (signs_rest_ == 0) {
      SignScan scan(*this, query, scope.count);
      Feed(scope, [&](const Chunk& chunk, Slot slot) { scan.Add(chunk, slot); });
      const bool told = scan.Finish(wanted, candidates);
      signs_failed_ = told ? 0 : std::min(2 * signs_failed_ + 1, kLongestRest);
      signs_rest_ = signs_failed_;
      if (told) return true;
    } else {
      --signs_rest_;
    }
  }
  CodeScan scan(quantizer_, metric_, query, candidates);
  const auto add = [&](const Chunk& chunk, Slot slot) {
    const std::size_t place = slot % kChunkSlots;
    scan.Add(slot, chunk.scales[place], &chunk.codes[place * code_bytes()]);
  };
  Feed(scope, add);
  scan.Flush();
  return false;
}

void FlatIndex::List(const Scope& scope, Shortlist& candidates) const {
  constexpr float kAny = std::numeric_limits<float>::infinity();
  Feed(scope, [&](const Chunk&, Slot slot) { candidates.Push({slot, kAny, -kAny}); });
}

std::uint64_t FlatIndex::InGroups(const Chunk& chunk, std::size_t word_at, std::uint64_t word,
                                  const std::vector<bool>& groups) {
  std::uint64_t left = word;
  for (; word != 0; word &= word - 1) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(word));
    if (!groups[chunk.owners[64 * word_at + bit].group]) left &= ~(std::uint64_t{1} << bit);
  }
  return left;
}

}  // namespace keepsake::search
