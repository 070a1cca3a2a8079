#include "text/text_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/answer_room.h"
#include "text/text_record.h"

namespace keepsake::search {
namespace {

// To tell whether neighbours belong together so many items are looked at, in stretches: of all
// namespaces, and of each.
constexpr std::size_t kItemsOfAll = 2048, kLeastItems = 48, kMostItems = 1024, kStretch = 128;
// A hash that a greater part of all items has says nothing of neighbours.
constexpr double kMostHolders = 0.25;
// What an item takes while a view is brought up to date: as it was, as it is, and on its way.
constexpr std::uint64_t kPerItem = 3 * sizeof(TextView::Item) + sizeof(std::uint32_t);

// Brings what stands from the middle on, which is in order, to its places among what is between the
// first and it, which is, too.
template <typename Each, typename Before>
void MergeTail(std::vector<Each>& all, std::size_t first, std::size_t middle, Before is_before) {
  // What was put later mostly stands behind.
  if (middle == first || middle == all.size() || !is_before(all[middle], all[middle - 1])) return;
  std::vector<Each> tail(all.begin() + static_cast<std::ptrdiff_t>(middle), all.end());
  for (std::size_t place = all.size(); !tail.empty();) {
    if (middle > first && is_before(tail.back(), all[middle - 1])) {
      all[--place] = all[--middle];
    } else {
      all[--place] = tail.back();
      tail.pop_back();
    }
  }
}

}  // namespace

// Goes through the namespaces of the view as it was and of what is new, in order, and through the
// items of each.
class TextView::Filling {
 public:
  Filling(TextView& view, std::span<const std::int64_t> removed, IsLive is_live)
      : view_(view), old_(std::move(view)), removed_(removed), is_live_(is_live) {
    view_ = TextView(std::move(old_.prefix_));
  }

  Status Run(std::span<const TextSegment* const> segments) {
    if (Status status = FindParts(segments); !status.ok()) return status;
    std::string ns;
    for (std::size_t old = 0; FindNext(old, ns);) {
      const std::size_t first = view_.items_.size();
      std::optional<double> coherence;
      if (IsNext(old, ns)) {
        const NamespaceItems& known = old_.namespaces_[old++];
        TakeOld(known);
        if (view_.items_.size() - first == known.size()) coherence = known.coherence;
      }
      for (Source& source : sources_) {
        if (!source.has_namespace || source.namespaces.encoded() != ns) continue;
        coherence.reset();
        Status status = AddNew(source, first);
        if (!status.ok()) return status;
      }
      if (view_.items_.size() > first) EndNamespace(first, std::move(ns), coherence);
    }
    if (view_.ItemsForCoherence() != old_.ItemsForCoherence()) {
      for (const NamespaceItems& each : view_.namespaces_) each.coherence.reset();
    }
    for (Part& part : view_.parts_) part.items.assign(part.docs.size(), kNowhere);
    std::vector<std::uint32_t> counts(view_.parts_.size());
    for (std::size_t i = 0; i < view_.items_.size(); ++i) {
      const Item& item = view_.items_[i];
      Part& part = view_.parts_[item.part];
      part.items[item.doc - part.docs.first] = static_cast<std::uint32_t>(i);
      ++counts[item.part];
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      Part& part = view_.parts_[i];
      part.is_whole = counts[i] == part.segment->info().docs;
    }
    return {};
  }

 private:
  static constexpr std::uint16_t kGone = 0xFFFF;

  // A part that is new.
  struct Source {
    std::uint16_t part;
    TextSegment::NamespaceCursor namespaces;
    bool has_namespace;
    TextSegment::DocCursor docs;
    std::vector<std::uint32_t> speakers;  // their numbers in the view, once they are known
  };

  Status FindParts(std::span<const TextSegment* const> segments) {
    new_parts_.assign(old_.parts_.size(), kGone);
    // A source holds views of its own bytes: it must not be copied.
    sources_.reserve(segments.size());
    std::size_t docs = 0;
    for (const TextSegment* segment : segments) {
      const std::uint32_t number = segment->info().number;
      const auto part = static_cast<std::uint16_t>(view_.parts_.size());
      const auto known = std::ranges::find(old_.parts_, number, &Part::number);
      if (number != 0 && known != old_.parts_.end()) {
        new_parts_[static_cast<std::size_t>(known - old_.parts_.begin())] = part;
        view_.parts_.push_back(std::move(*known));
        view_.parts_.back().segment = segment;
        continue;
      }
      const Result<DocRange> range = segment->DocsBelow(view_.prefix_);
      if (!range) return range.error();
      if (range->empty()) continue;
      docs += range->size();
      view_.parts_.push_back({.segment = segment, .number = number, .docs = *range, .items = {}});
      Source& source = sources_.emplace_back(
          Source{.part = part,
                 .namespaces = TextSegment::NamespaceCursor(*segment, view_.prefix_),
                 .has_namespace = false,
                 .docs = TextSegment::DocCursor(*segment),
                 .speakers = std::vector(segment->speakers().size(), kNowhere)});
      source.has_namespace = source.namespaces.Next();
      if (!source.namespaces.status().ok()) return source.namespaces.status();
    }
    docs += old_.items_.size();
    if (Status status = FindRoom(kPerItem * docs); !status.ok()) return status;
    view_.items_.reserve(docs);
    old_speakers_.assign(old_.speakers_.size(), kNowhere);
    return {};
  }

  bool IsNext(std::size_t old, std::string_view ns) const {
    return old < old_.namespaces_.size() && old_.namespaces_[old].encoded == ns;
  }

  // The next of all namespaces. False if there is none.
  bool FindNext(std::size_t old, std::string& ns) const {
    const std::string* least =
        old < old_.namespaces_.size() ? &old_.namespaces_[old].encoded : nullptr;
    for (const Source& source : sources_) {
      if (source.has_namespace && (least == nullptr || source.namespaces.encoded() < *least)) {
        least = &source.namespaces.encoded();
      }
    }
    if (least == nullptr) return false;
    ns = *least;
    return true;
  }

  bool IsRemoved(std::int64_t id) const {
    return !removed_.empty() && id >= removed_.front() && id <= removed_.back() &&
           std::ranges::binary_search(removed_, id);
  }

  void TakeOld(const NamespaceItems& ns) {
    for (std::size_t i = ns.first; i < ns.end; ++i) {
      Item item = old_.items_[i];
      item.part = new_parts_[item.part];
      if (item.part == kGone) continue;
      if (IsRemoved(item.id) && !is_live_(view_.parts_[item.part].segment->info(), item.id)) {
        continue;
      }
      item.speaker = NumberOf(item.speaker, old_.speakers_, old_speakers_);
      view_.items_.push_back(item);
    }
  }

  Status AddNew(Source& source, std::size_t first) {
    const TextSegment& segment = *view_.parts_[source.part].segment;
    const DocRange docs = source.namespaces.docs();
    const std::size_t middle = view_.items_.size();
    for (std::uint32_t number = docs.first; number < docs.end; ++number) {
      const TextDoc& doc = source.docs.Read(number);
      if (!source.docs.status().ok()) return source.docs.status();
      if (!is_live_(segment.info(), doc.id)) continue;
      view_.items_.push_back({.id = doc.id,
                              .group = doc.group,
                              .position = doc.position,
                              .ns = 0,
                              .length = doc.length,
                              .first_block = 0,
                              .speaker = NumberOf(doc.speaker, segment.speakers(), source.speakers),
                              .doc = number,
                              .part = source.part,
                              .flags = doc.flags});
    }
    MergeTail(view_.items_, first, middle,
              [](const Item& a, const Item& b) { return IsBefore(a, b); });
    source.has_namespace = source.namespaces.Next();
    return source.namespaces.status();
  }

  void EndNamespace(std::size_t first, std::string encoded, std::optional<double> coherence) {
    NamespaceItems ns{.encoded = std::move(encoded),
                      .first = static_cast<std::uint32_t>(first),
                      .end = static_cast<std::uint32_t>(view_.items_.size()),
                      .coherence = coherence};
    for (std::size_t i = first; i < ns.end; ++i) {
      Item& item = view_.items_[i];
      item.ns = static_cast<std::uint32_t>(view_.namespaces_.size());
      item.first_block = static_cast<std::uint32_t>(view_.blocks_);
      view_.blocks_ += item.blocks();
      view_.length_ += item.length;
      view_.squared_lengths_ += static_cast<double>(item.length) * item.length;
      ns.spoken += (item.flags & RecordReader::kSpoken) != 0 ? 1 : 0;
      ns.has_groups |= item.group != 0;
    }
    view_.namespaces_.push_back(std::move(ns));
  }

  // The number of a speaker in the view. Only who still says something has one.
  std::uint32_t NumberOf(std::uint32_t speaker, const std::vector<std::string>& names,
                         std::vector<std::uint32_t>& numbers) {
    if (speaker == 0) return 0;
    std::uint32_t& number = numbers[speaker];
    if (number == kNowhere) {
      const auto [known, is_new] = speaker_numbers_.try_emplace(
          names[speaker], static_cast<std::uint32_t>(view_.speakers_.size()));
      if (is_new) view_.speakers_.push_back(known->first);
      number = known->second;
    }
    return number;
  }

  TextView& view_;
  TextView old_;
  std::span<const std::int64_t> removed_;
  IsLive is_live_;
  std::vector<std::uint16_t> new_parts_;  // by part of the old one
  std::vector<std::uint32_t> old_speakers_;
  std::vector<Source> sources_;
  std::map<std::string, std::uint32_t, std::less<>> speaker_numbers_;
};

Status TextView::Update(std::span<const TextSegment* const> segments,
                        std::span<const std::int64_t> removed, IsLive is_live) {
  return Filling(*this, removed, is_live).Run(segments);
}

std::size_t TextView::bytes() const {
  std::size_t bytes = items_.size() * sizeof(Item);
  for (const NamespaceItems& ns : namespaces_) bytes += sizeof(ns) + ns.encoded.size();
  for (const Part& part : parts_) bytes += part.items.size() * sizeof(std::uint32_t);
  return bytes;
}

void TextView::Note(Status status) const {
  if (status_.ok()) status_ = std::move(status);
}

void TextView::ReadPostings(const Part& part, ByteView entry) const {
  postings_.clear();
  Note(part.segment->ReadPostings(entry, part.docs, postings_));
}

void TextView::AddHeld(const Part& part, ByteView entry, const FieldWeights& weights,
                       std::vector<Held>& held) const {
  ReadPostings(part, entry);
  held.reserve(held.size() + postings_.size());
  const std::size_t first = held.size();
  for (const Posting& posting : postings_) {
    const std::uint32_t item = part.items[posting.doc - part.docs.first];
    if (item == kNowhere) continue;
    // What stands behind the last word is in the last block.
    const std::uint32_t block =
        std::min(posting.place / static_cast<std::uint32_t>(TextConfig::kMaxFields),
                 items_[item].blocks() - 1);
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
      const std::size_t before = held.size();
      AddHeld(part, **entry, weights, held);
      MergeTail(held, 0, before, [](const Held& a, const Held& b) {
        return std::tie(a.item, a.block) < std::tie(b.item, b.block);
      });
    }
  }
  return held;
}

std::size_t TextView::CountHolders(std::string_view token) const {
  std::size_t count = 0;
  for (const Part& part : parts_) {
    const Result<std::optional<Bytes>> entry = part.segment->tokens().Find(token);
    if (!entry) Note(entry.error());
    if (!entry || !*entry) continue;
    if (part.is_whole) {
      count += static_cast<std::size_t>(TextSegment::CountOf(**entry));
      continue;
    }
    ReadPostings(part, **entry);
    std::uint32_t last = kNowhere;
    for (const Posting& posting : postings_) {
      if (std::exchange(last, posting.doc) == posting.doc) continue;
      if (part.items[posting.doc - part.docs.first] != kNowhere) ++count;
    }
  }
  return count;
}

bool TextView::IsHeld(const Part& part, ByteView entry) const {
  ReadPostings(part, entry);
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
                           FunctionRef<Choice(std::string_view token)> choose,
                           FunctionRef<void(std::string_view token)> visit) const {
  for (const Part& part : parts_) {
    Note(part.segment->tokens().Visit(beginning, [&](std::string_view token, ByteView entry) {
      const Choice choice = choose(token);
      if (choice.is_asked && IsHeld(part, entry)) visit(token);
      return choice.skipped;
    }));
  }
}

void TextView::VisitWords(
    std::string_view beginning, FunctionRef<Choice(std::string_view word)> choose,
    FunctionRef<void(std::string_view word, std::string_view token)> visit) const {
  VisitTokens(beginning, choose, [&](std::string_view token) { visit(token, token); });
  for (const Part& part : parts_) {
    Note(part.segment->written().Visit(beginning, [&](std::string_view word, ByteView payload) {
      const Choice choice = choose(word);
      if (choice.is_asked) {
        ByteReader reader(payload);
        const std::string_view token = reader.Text();
        if (IsHeld(part, reader.rest())) visit(word, token);
      }
      return choice.skipped;
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

std::size_t TextView::ItemsForCoherence() const {
  const std::size_t namespaces = std::max<std::size_t>(namespaces_.size(), 1);
  return std::clamp(kItemsOfAll / namespaces, kLeastItems, kMostItems);
}

// Of a hash that n of all N items have, n (n - 1) / N pairs of neighbours have it by chance. Of a
// large namespace some stretches tell.
double TextView::Coherence(std::size_t place) const {
  const NamespaceItems& ns = namespaces_[place];
  if (ns.coherence) return *ns.coherence;
  const std::size_t most = ItemsForCoherence();
  const std::size_t length = ns.size() <= most ? ns.size() : std::min(most, kStretch);
  const std::size_t stretches = ns.size() <= most ? 1 : most / length;
  std::array<double, kSketchHashes> holding{}, pairs{};
  for (std::size_t stretch = 0; stretch < stretches; ++stretch) {
    const std::size_t begin = ns.first + stretch * ns.size() / stretches;
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
  ns.coherence = (beside - by_chance) / std::sqrt(by_chance + 1);
  return *ns.coherence;
}

Sketch TextView::SketchOf(std::size_t item) const {
  const Item& asked = items_[item];
  const Result<Sketch> sketch = parts_[asked.part].segment->ReadSketch(asked.doc);
  if (sketch) return *sketch;
  Note(sketch.error());
  return {};
}

}  // namespace keepsake::search
