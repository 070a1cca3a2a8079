#include "text/text_index.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "base/heap_sort.h"
#include "text/text_record.h"

namespace keepsake::search {
namespace {

// A state of another version is made anew.
constexpr std::uint64_t kStateVersion = 2;
// So much is fresh at most: it is analysed again by who opens the index again.
constexpr std::size_t kFreshItems = 64, kFreshBytes = 12 * 1024;
// So many segments of about the same size become one. A step is so many times as large as the one
// below it, the least one has so many documents.
constexpr std::size_t kMergedSegments = 4;
constexpr std::uint32_t kLeastStep = 64;
// Of all documents so many may be removed ones before all segments become one.
constexpr std::size_t kRemovedPart = 4, kFewRemoved = 256;
// A portion of a merge: a few milliseconds.
constexpr std::uint64_t kMergedBytes = 256 * 1024;
// After a flush so many times the bytes that it wrote are merged, if so many are due.
constexpr std::uint64_t kMergesOfAll = 4;
// Views that are kept for the next question, and how much they take.
constexpr std::size_t kViews = 64, kViewBytes = 16 * 1024 * 1024;
// After so many removals views are made anew.
constexpr std::size_t kMostRemovals = 4096;
constexpr std::size_t kMostHashes = 48;

int StepOf(const SegmentInfo& segment) {
  int step = 0;
  for (std::uint64_t most = kLeastStep; most < segment.docs; most *= kMergedSegments) ++step;
  return step;
}

// The least hashes, so that those of two documents can be compared.
void EndSketch(std::vector<std::uint16_t>& sketch) {
  HeapSort(sketch, std::less());
  sketch.erase(std::ranges::unique(sketch).begin(), sketch.end());
  if (sketch.size() > kMostHashes) sketch.resize(kMostHashes);
}

}  // namespace

void TextIndex::Clear() {
  views_.clear();
  merges_.clear();
  pages_.Clear();
  segments_.clear();
  opened_.clear();
  step_ = 0;
  next_segment_ = 1;
  last_id_ = 0;
  removed_.clear();
  fresh_.clear();
  fresh_bytes_ = 0;
  fresh_segment_.reset();
  dropped_.clear();
  is_changed_ = false;
}

void TextIndex::Put(std::int64_t id, std::string_view encoded_ns, Bytes record) {
  Remove(id);
  Add(id, encoded_ns, std::move(record));
}

void TextIndex::Add(std::int64_t id, std::string_view encoded_ns, Bytes record) {
  fresh_bytes_ += record.size();
  fresh_[id] = {std::string(encoded_ns), std::move(record)};
  fresh_segment_.reset();
  ++version_;
}

void TextIndex::Remove(std::int64_t id) {
  if (const auto fresh = fresh_.find(id); fresh != fresh_.end()) {
    fresh_bytes_ -= fresh->second.record.size();
    fresh_.erase(fresh);
    fresh_segment_.reset();
    ++version_;
  }
  if (id > last_id_) return;
  removed_[id] = step_;
  if (removals_.size() == kMostRemovals) views_.clear();
  if (views_.empty()) removals_.clear();
  removals_.push_back(id);
  ++version_;
}

bool TextIndex::IsLive(const SegmentInfo& segment, std::int64_t id) const {
  if (removed_.empty()) return true;
  const auto removed = removed_.find(id);
  return removed == removed_.end() || removed->second < segment.newest;
}

Status TextIndex::OpenSegments() {
  opened_.resize(segments_.size());
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    if (opened_[i] != nullptr) continue;
    auto segment = TextSegment::Open(pages_, segments_[i]);
    if (!segment) return std::move(segment.error());
    opened_[i] = std::move(*segment);
  }
  return {};
}

Result<std::vector<const TextSegment*>> TextIndex::Segments() {
  if (Status status = OpenSegments(); !status.ok()) return std::unexpected(std::move(status));
  if (!fresh_.empty() && fresh_segment_ == nullptr) {
    fresh_pages_.Clear();
    SegmentInfo info = WriteFresh(fresh_pages_, 0);
    info.newest = step_ + 1;
    auto segment = TextSegment::Open(fresh_pages_, info);
    if (!segment) return std::unexpected(std::move(segment.error()));
    fresh_segment_ = std::move(*segment);
  }
  std::vector<const TextSegment*> segments;
  for (const auto& segment : opened_) segments.push_back(segment.get());
  if (fresh_segment_ != nullptr) segments.push_back(fresh_segment_.get());
  return segments;
}

Status TextIndex::BringUpToDate(Kept& kept) {
  const auto segments = Segments();
  if (!segments) return segments.error();
  std::vector<std::int64_t> removed(removals_.begin() + static_cast<std::ptrdiff_t>(kept.removed),
                                    removals_.end());
  HeapSort(removed, std::less<>());
  Status status = kept.view->Update(
      *segments, removed,
      [&](const SegmentInfo& segment, std::int64_t id) { return IsLive(segment, id); });
  kept.version = version_;
  kept.removed = removals_.size();
  return status;
}

Result<const TextView*> TextIndex::View(std::string_view encoded_prefix) {
  // After a mistake a view is made anew.
  std::erase_if(views_, [](const Kept& kept) { return !kept.view->status().ok(); });
  const auto known = std::ranges::find_if(
      views_, [&](const Kept& kept) { return kept.view->prefix() == encoded_prefix; });
  if (known == views_.end()) {
    views_.push_front({std::make_unique<TextView>(std::string(encoded_prefix)), 0, 0});
  } else {
    views_.splice(views_.begin(), views_, known);
  }
  if (views_.front().version != version_) {
    if (Status status = BringUpToDate(views_.front()); !status.ok()) {
      views_.pop_front();
      return std::unexpected(std::move(status));
    }
  }
  std::size_t bytes = 0, count = 0;
  for (auto each = views_.begin(); each != views_.end();) {
    bytes += each->view->bytes();
    const bool stays = count++ == 0 || (count <= kViews && bytes <= kViewBytes);
    each = stays ? std::next(each) : views_.erase(each);
  }
  return views_.front().view.get();
}

bool TextIndex::IsFull() const { return fresh_.size() > kFreshItems || fresh_bytes_ > kFreshBytes; }

SegmentInfo TextIndex::WriteFresh(SegmentPages& pages, std::uint32_t number) const {
  struct Doc {
    TextDoc doc;
    const std::string* ns;
    ByteView record;
  };
  std::vector<Doc> docs;
  std::vector<std::string> speakers = {""};
  std::unordered_map<std::string_view, std::uint32_t> speaker_numbers;
  for (const auto& [id, fresh] : fresh_) {
    const RecordReader reader(fresh.record);
    TextDoc doc{.id = id,
                .length = reader.length(),
                .flags = static_cast<std::uint8_t>(reader.flags()),
                .group = reader.group().empty() ? 0 : HashOf(BytesOf(reader.group())),
                .position = reader.position()};
    if (!reader.speaker().empty()) {
      const auto [known, is_new] = speaker_numbers.try_emplace(
          reader.speaker(), static_cast<std::uint32_t>(speakers.size()));
      if (is_new) speakers.emplace_back(reader.speaker());
      doc.speaker = known->second;
    }
    docs.push_back({doc, &fresh.encoded_ns, fresh.record});
  }
  HeapSort(docs, [](const Doc& a, const Doc& b) {
    return *a.ns != *b.ns ? *a.ns < *b.ns : IsBefore(a.doc, b.doc);
  });

  struct Word {
    std::string_view word, token;
    std::vector<Posting> postings;
  };
  struct Words {
    std::unordered_map<std::string_view, std::size_t> numbers;
    std::vector<Word> words;

    std::vector<Posting>& Of(std::string_view word, std::string_view token) {
      const auto [known, is_new] = numbers.try_emplace(word, words.size());
      if (is_new) words.push_back({word, token, {}});
      return words[known->second].postings;
    }
    void Sort() {
      HeapSort(words, [](const Word& a, const Word& b) { return a.word < b.word; });
    }
  };
  Words tokens, written;
  SegmentBuilder builder(pages, number);
  Bytes encoded;
  for (std::uint32_t number_of_doc = 0; number_of_doc < docs.size(); ++number_of_doc) {
    const Doc& doc = docs[number_of_doc];
    RecordReader reader(doc.record);
    std::vector<std::uint16_t> sketch;
    while (reader.Next()) {
      std::vector<Posting>& postings = tokens.Of(reader.token(), reader.token());
      double weight = 0;
      for (const RecordReader::PlaceCount& at : reader.places()) {
        postings.push_back({number_of_doc, static_cast<std::uint32_t>(at.place),
                            static_cast<std::uint32_t>(at.occurrences)});
        weight += weights_[at.place % TextConfig::kMaxFields];
      }
      if (weight > 0) {
        sketch.push_back(
            static_cast<std::uint16_t>(HashOf(BytesOf(reader.token())) % kSketchHashes));
      }
      if (!reader.written().empty()) {
        std::vector<Posting>& words = written.Of(reader.written(), reader.token());
        if (words.empty() || words.back().doc != number_of_doc) {
          words.push_back({number_of_doc, 0, 1});
        }
      }
    }
    EndSketch(sketch);
    encoded.clear();
    AppendSketch(sketch, encoded);
    builder.AddDoc(*doc.ns, doc.doc, encoded);
  }
  tokens.Sort();
  written.Sort();
  for (const Word& word : tokens.words) builder.AddToken(word.word, word.postings);
  for (const Word& word : written.words) builder.AddWritten(word.word, word.token, word.postings);
  return builder.Finish(speakers);
}

Status TextIndex::Flush() {
  std::uint64_t written = 0;
  if (!fresh_.empty()) {
    SegmentInfo info = WriteFresh(pages_, next_segment_++);
    info.newest = ++step_;
    info.cleaned = step_ - 1;
    written = info.size;
    segments_.push_back(info);
    last_id_ = std::max(last_id_, fresh_.rbegin()->first);
    fresh_.clear();
    fresh_bytes_ = 0;
    fresh_segment_.reset();
    is_changed_ = true;
    ++version_;
  }
  // Merges keep up with what is written, though nobody leaves them time.
  for (std::uint64_t merged = 0;; merged += kMergedBytes) {
    const Result<bool> has_more = Merge();
    if (!has_more) return has_more.error();
    if (!*has_more || merged >= kMergesOfAll * written) return {};
  }
}

std::size_t TextIndex::CountToMerge() const {
  std::size_t free = 0;  // the first that is not being merged
  if (!merges_.empty()) {
    const std::uint32_t newest = merges_.back().merge->inputs().back()->info().number;
    while (segments_[free++].number != newest) continue;
  }
  std::uint64_t docs = 0;
  for (const SegmentInfo& segment : segments_) docs += segment.docs;
  if (free == 0 && removed_.size() > std::max<std::uint64_t>(docs / kRemovedPart, kFewRemoved)) {
    return segments_.size();
  }
  // The longest run of the newest whose oldest is no larger than all others of it together.
  std::uint64_t of_run = 0;
  std::size_t count = 0;
  int step = 0;
  for (std::size_t i = segments_.size(); i-- > free;) {
    const SegmentInfo& segment = segments_[i];
    step = std::max(step, StepOf(segment));
    const bool ends_here = i == free || StepOf(segments_[i - 1]) > step;
    const std::size_t length = segments_.size() - i;
    if (ends_here && length >= kMergedSegments && of_run >= segment.docs) count = length;
    of_run += segment.docs;
  }
  return count;
}

Status TextIndex::BeginMerge(std::size_t first, std::size_t count) {
  if (Status status = OpenSegments(); !status.ok()) return status;
  std::vector<const TextSegment*> inputs;
  for (std::size_t i = first; i < first + count; ++i) inputs.push_back(opened_[i].get());
  const std::uint32_t number = next_segment_++;
  merges_.push_back({std::make_unique<SegmentMerge>(pages_, std::move(inputs), number), number,
                     step_ == 0 ? 0 : step_ - 1});
  return merges_.back().merge->Begin(
      [&](const SegmentInfo& segment, std::int64_t id) { return IsLive(segment, id); });
}

void TextIndex::EndMerge() {
  const std::unique_ptr<SegmentMerge> merge = std::move(merges_.back().merge);
  SegmentInfo info = merge->info();
  info.cleaned = merges_.back().cleaned;
  merges_.pop_back();
  const std::uint32_t oldest = merge->inputs().front()->info().number;
  const auto first = std::ranges::find(segments_, oldest, &SegmentInfo::number);
  const auto end = first + std::ssize(merge->inputs());
  opened_.resize(segments_.size());
  const auto first_opened = opened_.begin() + (first - segments_.begin());
  const auto opened_place = opened_.erase(first_opened, first_opened + (end - first));
  for (auto input = first; input != end; ++input) {
    DropPages(input->number);
  }
  const auto place = segments_.erase(first, end);
  if (info.docs > 0) {
    segments_.insert(place, info);
    opened_.insert(opened_place, nullptr);
  } else {
    DropPages(info.number);
  }
  is_changed_ = true;
  ++version_;
  DropMarks();
}

void TextIndex::DropPages(std::uint32_t segment) {
  pages_.DropSegment(segment);
  dropped_.push_back(segment);
}

// Those that no segment needs any more.
void TextIndex::DropMarks() {
  std::erase_if(removed_, [&](const auto& mark) {
    return std::ranges::none_of(segments_, [&](const SegmentInfo& segment) {
      return segment.newest <= mark.second && segment.cleaned < mark.second;
    });
  });
}

Result<bool> TextIndex::Merge() {
  if (const std::size_t count = CountToMerge(); count > 0) {
    Status status = BeginMerge(segments_.size() - count, count);
    if (!status.ok()) return std::unexpected(std::move(status));
  }
  if (merges_.empty()) return false;
  const Result<bool> is_done = merges_.back().merge->Step(kMergedBytes);
  if (!is_done) return is_done;
  if (!*is_done) return true;
  EndMerge();
  return !merges_.empty() || CountToMerge() > 0;
}

Status TextIndex::Purge() {
  for (const Merging& merging : merges_) DropPages(merging.number);
  merges_.clear();
  if (removed_.empty() || segments_.empty()) return {};
  // A mark of this very step is needed no longer, either.
  ++step_;
  if (Status status = BeginMerge(0, segments_.size()); !status.ok()) return status;
  for (;;) {
    const Result<bool> is_done = merges_.back().merge->Step(kMergedBytes);
    if (!is_done) return is_done.error();
    if (*is_done) break;
  }
  EndMerge();
  return {};
}

//   state := version:varint step:varint next_segment:varint last_id:varint
//            count:varint unfinished:varint* count:varint segment* count:varint (id step:varint)*
//   segment := number:varint newest:varint cleaned:varint docs:varint footer:varint size:varint
//   id less the one before: varint
Bytes TextIndex::State() const {
  Bytes state;
  for (const std::uint64_t number :
       {kStateVersion, std::uint64_t{step_}, std::uint64_t{next_segment_},
        static_cast<std::uint64_t>(last_id_), std::uint64_t{merges_.size()}}) {
    AppendVarint(number, state);
  }
  for (const Merging& merging : merges_) AppendVarint(merging.number, state);
  AppendVarint(segments_.size(), state);
  for (const SegmentInfo& segment : segments_) {
    for (const std::uint64_t number : {std::uint64_t{segment.number}, std::uint64_t{segment.newest},
                                       std::uint64_t{segment.cleaned}, std::uint64_t{segment.docs},
                                       segment.footer, segment.size}) {
      AppendVarint(number, state);
    }
  }
  std::vector<std::pair<std::int64_t, std::uint32_t>> marks(removed_.begin(), removed_.end());
  HeapSort(marks, std::less<>());
  AppendVarint(marks.size(), state);
  std::int64_t last = 0;
  for (const auto& [id, step] : marks) {
    AppendVarint(static_cast<std::uint64_t>(id - std::exchange(last, id)), state);
    AppendVarint(step, state);
  }
  return state;
}

bool TextIndex::Restore(ByteView state) {
  Clear();
  ByteReader reader(state);
  if (reader.Varint() != kStateVersion) return false;
  const auto number = [&] { return static_cast<std::uint32_t>(reader.Varint()); };
  step_ = number();
  next_segment_ = number();
  last_id_ = reader.Id();
  // Pages of a merge that did not end are of no use.
  for (std::uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) {
    dropped_.push_back(number());
  }
  for (std::uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) {
    SegmentInfo segment;
    segment.number = number();
    segment.newest = number();
    segment.cleaned = number();
    segment.docs = number();
    segment.footer = reader.Varint();
    segment.size = reader.Varint();
    if (segment.size < segment.footer) return false;
    segments_.push_back(segment);
  }
  std::int64_t id = 0;
  for (std::uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) {
    id += reader.Id();
    removed_[id] = number();
  }
  return reader.ok();
}

void TextIndex::NoteWritten() {
  pages_.NoteWritten();
  dropped_.clear();
  is_changed_ = false;
}

std::vector<std::int64_t> TextIndex::FreshIds() const {
  std::vector<std::int64_t> ids;
  for (const auto& [id, fresh] : fresh_) ids.push_back(id);
  return ids;
}

}  // namespace keepsake::search
