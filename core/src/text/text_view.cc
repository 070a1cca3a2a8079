#include "text/text_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/answer_room.h"
#include "base/heap_sort.h"
#include "text/text_record.h"

namespace keepsake::search {
namespace {

// To tell whether neighbours belong together.
constexpr std::size_t kStretchesOfAll = 16, kStretch = 128;
// A hash that a greater part of all items has says nothing of neighbours.
constexpr double kMostHolders = 0.25;
// What an item and its document take while a view is made.
constexpr std::uint64_t kPerItem = 3 * (sizeof(TextView::Item) + sizeof(TextDoc));

}  // namespace

Result<std::unique_ptr<const TextView>> TextView::Make(std::span<const TextSegment* const> segments,
                                                       std::string_view encoded_prefix,
                                                       IsLive is_live) {
  auto view = std::make_unique<TextView>();
  Status status = view->Fill(segments, encoded_prefix, is_live);
  if (!status.ok()) return std::unexpected(std::move(status));
  return view;
}

Status TextView::Fill(std::span<const TextSegment* const> segments, std::string_view encoded_prefix,
                      IsLive is_live) {
  struct Run {
    std::size_t part;
    DocRange docs;
  };
  std::map<std::string, std::vector<Run>, std::less<>> runs;
  std::uint64_t docs = 0;
  for (const TextSegment* segment : segments) {
    Part part{.segment = segment, .docs = {}, .items = {}};
    bool is_first = true;
    Status status =
        segment->VisitNamespaces(encoded_prefix, [&](std::string_view ns, DocRange range) {
          if (std::exchange(is_first, false)) part.docs.first = range.first;
          part.docs.end = range.end;
          auto known = runs.find(ns);
          if (known == runs.end()) known = runs.try_emplace(std::string(ns)).first;
          known->second.push_back({parts_.size(), range});
        });
    if (!status.ok()) return status;
    if (is_first) continue;
    docs += part.docs.size();
    parts_.push_back(std::move(part));
  }
  if (Status status = FindRoom(kPerItem * docs); !status.ok()) return status;

  std::vector<std::vector<TextDoc>> docs_of(parts_.size());
  std::map<std::string, std::uint32_t, std::less<>> speaker_numbers;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    Status status = part.segment->ReadDocs(part.docs, docs_of[i]);
    if (!status.ok()) return status;
    part.items.assign(part.docs.size(), kNowhere);
    std::vector<std::uint32_t> numbers(part.segment->speakers().size(), kNowhere);
    numbers[0] = 0;
    for (TextDoc& doc : docs_of[i]) {
      std::uint32_t& number = numbers[doc.speaker];
      if (number == kNowhere) {
        const auto [known, is_new] = speaker_numbers.try_emplace(
            part.segment->speakers()[doc.speaker], static_cast<std::uint32_t>(speakers_.size()));
        if (is_new) speakers_.push_back(known->first);
        number = known->second;
      }
      doc.speaker = number;
    }
  }

  struct Entry {
    const TextDoc* doc;
    std::uint32_t part, number;
  };
  const auto is_before = [](const Entry& a, const Entry& b) { return IsBefore(*a.doc, *b.doc); };
  std::vector<Entry> entries, added, merged;
  items_.reserve(static_cast<std::size_t>(docs));
  for (const auto& [ns, of_ns] : runs) {
    entries.clear();
    for (const Run& run : of_ns) {
      const Part& part = parts_[run.part];
      added.clear();
      for (std::uint32_t doc = run.docs.first; doc < run.docs.end; ++doc) {
        const std::uint32_t at = doc - part.docs.first;
        if (is_live(part.segment->info(), docs_of[run.part][at].id)) {
          added.push_back({&docs_of[run.part][at], static_cast<std::uint32_t>(run.part), doc});
        }
      }
      merged.clear();
      std::ranges::merge(entries, added, std::back_inserter(merged), is_before);
      std::swap(entries, merged);
    }
    if (entries.empty()) continue;
    NamespaceItems items{.first = static_cast<std::uint32_t>(items_.size())};
    for (const Entry& entry : entries) {
      const TextDoc& doc = *entry.doc;
      Part& part = parts_[entry.part];
      part.items[entry.number - part.docs.first] = static_cast<std::uint32_t>(items_.size());
      const std::uint32_t blocks =
          std::max<std::uint32_t>((doc.length + kBlockWords - 1) / kBlockWords, 1);
      items_.push_back({.id = doc.id,
                        .group = doc.group,
                        .ns = static_cast<std::uint32_t>(namespaces_.size()),
                        .length = doc.length,
                        .blocks = blocks,
                        .first_block = static_cast<std::uint32_t>(blocks_),
                        .speaker = doc.speaker,
                        .flags = doc.flags,
                        .part = entry.part,
                        .doc = entry.number});
      blocks_ += blocks;
      length_ += doc.length;
      squared_lengths_ += static_cast<double>(doc.length) * doc.length;
      items.spoken += (doc.flags & RecordReader::kSpoken) != 0 ? 1 : 0;
      items.has_groups |= doc.group != 0;
    }
    items.end = static_cast<std::uint32_t>(items_.size());
    namespaces_.push_back(items);
  }
  return {};
}

std::size_t TextView::bytes() const {
  std::size_t bytes = items_.size() * sizeof(Item) + namespaces_.size() * sizeof(NamespaceItems);
  for (const Part& part : parts_) bytes += part.items.size() * sizeof(std::uint32_t);
  return bytes;
}

void TextView::Note(Status status) const {
  if (status_.ok()) status_ = std::move(status);
}

void TextView::AddHeld(const Part& part, ByteView entry, const FieldWeights& weights,
                       std::vector<Held>& held) const {
  postings_.clear();
  Note(part.segment->ReadPostings(entry, part.docs, postings_));
  held.reserve(held.size() + postings_.size());
  const std::size_t first = held.size();
  for (const Posting& posting : postings_) {
    const std::uint32_t item = part.items[posting.doc - part.docs.first];
    if (item == kNowhere) continue;
    // What stands behind the last word is in the last block.
    const std::uint32_t block =
        std::min(posting.place / static_cast<std::uint32_t>(TextConfig::kMaxFields),
                 items_[item].blocks - 1);
    const double count = weights[posting.place % TextConfig::kMaxFields] * posting.count;
    if (held.size() > first && held.back().item == item && held.back().block == block) {
      held.back().count += count;
    } else {
      held.push_back({item, block, count});
    }
  }
}

std::vector<Held> TextView::Find(std::string_view token, const FieldWeights& weights) const {
  std::vector<Held> held;
  for (const Part& part : parts_) {
    const Result<std::optional<Bytes>> entry = part.segment->tokens().Find(token);
    if (!entry) {
      Note(entry.error());
    } else if (*entry) {
      AddHeld(part, **entry, weights, held);
    }
  }
  const auto is_before = [](const Held& a, const Held& b) {
    return std::tie(a.item, a.block) < std::tie(b.item, b.block);
  };
  if (!std::ranges::is_sorted(held, is_before)) HeapSort(held, is_before);
  return held;
}

bool TextView::IsHeld(const Part& part, ByteView entry) const {
  postings_.clear();
  Note(part.segment->ReadPostings(entry, part.docs, postings_));
  return std::ranges::any_of(postings_, [&](const Posting& posting) {
    return part.items[posting.doc - part.docs.first] != kNowhere;
  });
}

bool TextView::Holds(std::string_view token) const {
  return std::ranges::any_of(parts_, [&](const Part& part) {
    const Result<std::optional<Bytes>> entry = part.segment->tokens().Find(token);
    if (!entry) Note(entry.error());
    return entry && *entry && IsHeld(part, **entry);
  });
}

void TextView::VisitTokens(std::string_view beginning,
                           FunctionRef<bool(std::string_view token)> is_asked,
                           FunctionRef<void(std::string_view token)> visit) const {
  for (const Part& part : parts_) {
    Note(part.segment->tokens().Visit(beginning, [&](std::string_view token, ByteView entry) {
      if (!token.starts_with(beginning)) return false;
      if (is_asked(token) && IsHeld(part, entry)) visit(token);
      return true;
    }));
  }
}

void TextView::VisitWords(
    std::string_view beginning,
    FunctionRef<bool(std::string_view word, std::string_view token)> is_asked,
    FunctionRef<void(std::string_view word, std::string_view token)> visit) const {
  VisitTokens(
      beginning, [&](std::string_view token) { return is_asked(token, token); },
      [&](std::string_view token) { visit(token, token); });
  for (const Part& part : parts_) {
    Note(part.segment->written().Visit(beginning, [&](std::string_view word, ByteView payload) {
      if (!word.starts_with(beginning)) return false;
      ByteReader reader(payload);
      const std::string_view token = reader.Text();
      if (is_asked(word, token) && IsHeld(part, reader.rest())) visit(word, token);
      return true;
    }));
  }
}

std::vector<std::size_t> TextView::PlacesOf(std::span<const std::int64_t> ids) const {
  std::unordered_map<std::int64_t, std::size_t> asked;
  for (std::size_t i = 0; i < ids.size(); ++i) asked.try_emplace(ids[i], i);
  std::vector<std::size_t> places(ids.size(), items_.size());
  for (std::size_t place = 0; place < items_.size(); ++place) {
    if (const auto found = asked.find(items_[place].id); found != asked.end()) {
      places[found->second] = place;
    }
  }
  return places;
}

// Of a hash that n of all N items have, n (n - 1) / N pairs of neighbours have it by chance. Of a
// large namespace some stretches tell.
double TextView::Coherence(std::size_t ns) const {
  coherence_.resize(namespaces_.size());
  // Of many namespaces each has fewer stretches.
  const std::size_t most = std::clamp<std::size_t>(kStretchesOfAll / namespaces_.size(), 1, 8);
  std::optional<double>& coherence = coherence_[ns];
  if (coherence) return *coherence;
  const std::size_t first = namespaces_[ns].first, all = namespaces_[ns].size();
  const std::size_t stretches = all <= most * kStretch ? 1 : most;
  const std::size_t length = stretches == 1 ? all : kStretch;
  std::array<double, kSketchHashes> holding{}, pairs{};
  for (std::size_t stretch = 0; stretch < stretches; ++stretch) {
    const std::size_t begin = first + stretch * all / stretches;
    // Where each hash was seen last.
    std::array<std::size_t, kSketchHashes> seen{};
    for (std::size_t i = begin; i < begin + length; ++i) {
      for (const std::uint16_t hash : SketchOf(i)) {
        ++holding[hash];
        if (i > begin && seen[hash] == i) ++pairs[hash];
        seen[hash] = i + 1;
      }
    }
  }
  const auto items = static_cast<double>(stretches * length);
  double beside = 0, by_chance = 0;
  for (std::size_t hash = 0; hash < holding.size(); ++hash) {
    const double holders = holding[hash];
    if (holders > kMostHolders * items) continue;
    beside += pairs[hash];
    by_chance += holders * (holders - 1) / items;
  }
  coherence = (beside - by_chance) / std::sqrt(by_chance + 1);
  return *coherence;
}

const Sketch& TextView::SketchOf(std::size_t item) const {
  static const Sketch kNone;
  const Item& asked = items_[item];
  const Result<const Sketch*> sketch = parts_[asked.part].segment->ReadSketch(asked.doc);
  if (sketch) return **sketch;
  Note(sketch.error());
  return kNone;
}

}  // namespace keepsake::search
