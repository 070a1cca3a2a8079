#include "text/text_segment.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "base/heap_sort.h"

namespace keepsake::search {
namespace {

constexpr std::uint32_t kBlockDocs = 128;
// A longer list of postings has a way into its middle.
constexpr std::uint32_t kChunkDocs = 256;
// Shorter ones stand with their words.
constexpr std::size_t kBytesWithin = 24;
// How a document of a word is written: once in place 0, once, several times, in several places.
enum Kind : std::uint32_t { kOnceFirst = 0, kOnce = 1, kOften = 2, kPlaces = 3 };
// What a document has beside.
constexpr std::uint64_t kSameGroup = 0, kNoGroup = 1, kOtherGroup = 2, kGroupKinds = 3;
constexpr std::uint64_t kWhole = 4, kDouble = 8;  // its position, if it is not 0

Status Damaged() { return {StatusCode::kCorrupt, "a segment of the index of texts is damaged"}; }

std::uint64_t ZigZag(std::int64_t number) {
  return static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
}

std::int64_t UnZigZag(std::uint64_t number) {
  return static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1);
}

void AppendDoc(const TextDoc& doc, const TextDoc& last, Bytes& out) {
  AppendVarint(ZigZag(doc.id - last.id), out);
  AppendVarint(doc.length, out);
  out.push_back(doc.flags);
  AppendVarint(doc.speaker, out);
  constexpr double kMostWhole = 1e15;
  const bool is_whole =
      doc.position > 0 && doc.position < kMostWhole &&
      static_cast<double>(static_cast<std::uint64_t>(doc.position)) == doc.position;
  std::uint64_t kinds = doc.group == last.group ? kSameGroup
                        : doc.group == 0        ? kNoGroup
                                                : kOtherGroup;
  if (doc.position != 0) kinds |= is_whole ? kWhole : kDouble;
  AppendVarint(kinds, out);
  if ((kinds & kGroupKinds) == kOtherGroup) AppendU64(doc.group, out);
  if ((kinds & kWhole) != 0) AppendVarint(static_cast<std::uint64_t>(doc.position), out);
  if ((kinds & kDouble) != 0) AppendU64(std::bit_cast<std::uint64_t>(doc.position), out);
}

TextDoc ReadDoc(const TextDoc& last, ByteReader& reader) {
  TextDoc doc;
  doc.id = last.id + UnZigZag(reader.Varint());
  doc.length = static_cast<std::uint32_t>(reader.Varint());
  const ByteView flags = reader.Take(1);
  doc.flags = flags.empty() ? 0 : flags[0];
  doc.speaker = static_cast<std::uint32_t>(reader.Varint());
  const std::uint64_t kinds = reader.Varint();
  if ((kinds & kGroupKinds) == kSameGroup) doc.group = last.group;
  if ((kinds & kGroupKinds) == kOtherGroup) doc.group = reader.U64();
  if ((kinds & kWhole) != 0) doc.position = static_cast<double>(reader.Varint());
  if ((kinds & kDouble) != 0) doc.position = std::bit_cast<double>(reader.U64());
  return doc;
}

// Of one document. Says how many there are.
std::size_t AppendPosting(std::span<const Posting> postings, std::uint32_t last, Bytes& out) {
  std::size_t count = 1;
  while (count < postings.size() && postings[count].doc == postings[0].doc) ++count;
  const Posting& first = postings[0];
  const Kind kind = count > 1         ? kPlaces
                    : first.count > 1 ? kOften
                    : first.place > 0 ? kOnce
                                      : kOnceFirst;
  AppendVarint(std::uint64_t{first.doc - last} << 2 | kind, out);
  if (kind == kPlaces) AppendVarint(count, out);
  if (kind != kOnceFirst) AppendVarint(first.place, out);
  if (kind == kOften || kind == kPlaces) AppendVarint(first.count, out);
  for (std::size_t i = 1; i < count; ++i) {
    AppendVarint(postings[i].place - postings[i - 1].place, out);
    AppendVarint(postings[i].count, out);
  }
  return count;
}

void ReadChunk(ByteReader& reader, std::uint32_t doc, DocRange docs, std::vector<Posting>& out) {
  while (!reader.done()) {
    const std::uint64_t head = reader.Varint();
    doc += static_cast<std::uint32_t>(head >> 2);
    if (doc >= docs.end || !reader.ok()) return;
    const std::uint64_t kind = head & 3;
    std::uint64_t places = kind == kPlaces ? reader.Varint() : 1;
    Posting posting{doc, 0, 1};
    if (kind != kOnceFirst) posting.place = static_cast<std::uint32_t>(reader.Varint());
    if (kind == kOften || kind == kPlaces) {
      posting.count = static_cast<std::uint32_t>(reader.Varint());
    }
    const bool is_asked = doc >= docs.first;
    if (is_asked) out.push_back(posting);
    for (; places > 1 && reader.ok(); --places) {
      posting.place += static_cast<std::uint32_t>(reader.Varint());
      posting.count = static_cast<std::uint32_t>(reader.Varint());
      if (is_asked) out.push_back(posting);
    }
  }
}

void AppendOffsets(const std::vector<std::uint64_t>& offsets, Bytes& out) {
  AppendVarint(offsets.size(), out);
  std::uint64_t last = 0;
  for (const std::uint64_t offset : offsets)
    AppendVarint(offset - std::exchange(last, offset), out);
}

std::vector<std::uint64_t> ReadOffsets(ByteReader& reader) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t last = 0;
  for (std::uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) {
    offsets.push_back(last += reader.Varint());
  }
  return offsets;
}

}  // namespace

Result<std::unique_ptr<const TextSegment>> TextSegment::Open(SegmentPages& pages,
                                                             const SegmentInfo& info) {
  std::unique_ptr<TextSegment> segment(new TextSegment(pages, info));
  if (Status status = segment->ReadFooter(); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  return segment;
}

Status TextSegment::ReadFooter() {
  Bytes footer;
  Status status = pages_->Read(info_.number, info_.footer, info_.size - info_.footer, footer);
  if (!status.ok()) return status;
  ByteReader reader(footer);
  doc_blocks_ = ReadOffsets(reader);
  sketch_blocks_ = ReadOffsets(reader);
  speakers_.emplace_back();
  for (std::uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) {
    speakers_.emplace_back(reader.Text());
  }
  const bool is_whole = namespaces_.Open(*pages_, info_.number, reader) &&
                        tokens_.Open(*pages_, info_.number, reader) &&
                        written_.Open(*pages_, info_.number, reader);
  const std::size_t blocks = (info_.docs + kBlockDocs - 1) / kBlockDocs;
  return is_whole && doc_blocks_.size() == blocks + 1 && sketch_blocks_.size() == blocks + 1
             ? Status()
             : Damaged();
}

bool TextSegment::NamespaceCursor::Next() {
  if (!status_.ok()) return false;
  if (!words_.Next()) {
    status_ = words_.status();
    return false;
  }
  if (!words_.word().starts_with(prefix_)) return false;
  ByteReader reader(words_.payload());
  const std::uint64_t first = reader.Varint(), end = first + reader.Varint();
  if (!reader.ok() || first < docs_.end || end <= first || end > docs_in_all_) {
    status_ = Damaged();
    return false;
  }
  docs_ = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end)};
  return true;
}

Result<DocRange> TextSegment::DocsBelow(std::string_view encoded_prefix) const {
  NamespaceCursor namespaces(*this, encoded_prefix);
  DocRange docs;
  while (namespaces.Next()) {
    if (docs.empty()) docs.first = namespaces.docs().first;
    docs.end = namespaces.docs().end;
  }
  if (!namespaces.status().ok()) return std::unexpected(namespaces.status());
  return docs;
}

const TextDoc& TextSegment::DocCursor::Read(std::uint32_t number) {
  if (const std::uint32_t block = number / kBlockDocs; status_.ok() && block != block_) {
    block_ = block;
    next_ = block * kBlockDocs;
    bytes_.clear();
    const std::uint64_t begin = segment_->doc_blocks_[block];
    status_ = segment_->pages_->Read(segment_->info_.number, begin,
                                     segment_->doc_blocks_[block + 1] - begin, bytes_);
    reader_ = ByteReader(bytes_);
    doc_ = {};
  }
  for (; status_.ok() && next_ <= number; ++next_) {
    doc_ = ReadDoc(doc_, reader_);
    if (!reader_.ok() || doc_.speaker >= segment_->speakers_.size()) status_ = Damaged();
  }
  if (!status_.ok()) doc_ = {};
  return doc_;
}

Result<Sketch> TextSegment::ReadSketch(std::uint32_t doc) const {
  const std::uint32_t block = doc / kBlockDocs, number = doc % kBlockDocs;
  if (block != sketch_block_) {
    sketch_block_ = 0xFFFF'FFFF;
    Bytes bytes;
    Status status = pages_->Read(info_.number, sketch_blocks_[block],
                                 sketch_blocks_[block + 1] - sketch_blocks_[block], bytes);
    if (!status.ok()) return std::unexpected(std::move(status));
    ByteReader reader(bytes);
    hashes_.clear();
    sketch_ends_.clear();
    while (!reader.done()) {
      std::uint64_t hash = 0;
      for (std::uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) {
        hash += reader.Varint();
        hashes_.push_back(static_cast<std::uint16_t>(hash % kSketchHashes));
      }
      sketch_ends_.push_back(hashes_.size());
    }
    if (!reader.ok()) return std::unexpected(Damaged());
    sketch_block_ = block;
  }
  if (number >= sketch_ends_.size()) return std::unexpected(Damaged());
  const std::size_t begin = number == 0 ? 0 : sketch_ends_[number - 1];
  return Sketch(hashes_).subspan(begin, sketch_ends_[number] - begin);
}

Status TextSegment::ReadPostings(ByteView entry, DocRange docs, std::vector<Posting>& out) const {
  if (docs.empty()) return {};
  ByteReader reader(entry);
  const std::uint64_t head = reader.Varint(), count = head >> 1;
  if ((head & 1) != 0) {
    ByteReader postings(reader.rest());
    ReadChunk(postings, 0, docs, out);
    return reader.ok() && postings.ok() ? Status() : Damaged();
  }
  struct Chunk {
    std::uint32_t last;  // what its first document is counted from
    std::uint64_t begin, end;
  };
  std::uint64_t offset = reader.Varint();
  const std::uint64_t length = reader.Varint();
  std::vector<Chunk> chunks;
  if (count <= kChunkDocs) {
    chunks.push_back({0, offset, offset + length});
  } else {
    std::uint32_t first = 0;
    for (std::uint64_t i = 0; i < count && reader.ok(); i += kChunkDocs) {
      first += static_cast<std::uint32_t>(reader.Varint());
      const std::uint64_t bytes = reader.Varint();
      // The one before ends where this one begins.
      if (!chunks.empty() && first <= docs.first) chunks.clear();
      if (chunks.empty() || first < docs.end) {
        chunks.push_back({i == 0 ? 0 : first, offset, offset + bytes});
      }
      offset += bytes;
    }
  }
  if (!reader.ok() || chunks.empty()) return Damaged();
  const std::uint64_t begin = chunks.front().begin;
  Bytes bytes;
  Status status = pages_->Read(info_.number, begin, chunks.back().end - begin, bytes);
  if (!status.ok()) return status;
  for (const Chunk& chunk : chunks) {
    ByteReader postings(ByteView(bytes).subspan(static_cast<std::size_t>(chunk.begin - begin),
                                                static_cast<std::size_t>(chunk.end - chunk.begin)));
    ReadChunk(postings, chunk.last, docs, out);
    if (!postings.ok()) return Damaged();
  }
  return {};
}

Status TextSegment::ReadSketches(Bytes& out, std::vector<std::size_t>& ends) const {
  Status status = pages_->Read(info_.number, sketch_blocks_.front(),
                               sketch_blocks_.back() - sketch_blocks_.front(), out);
  if (!status.ok()) return status;
  ByteReader reader(out);
  for (std::uint32_t doc = 0; doc < info_.docs; ++doc) {
    for (std::uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) reader.Varint();
    ends.push_back(out.size() - reader.rest().size());
  }
  return reader.ok() ? Status() : Damaged();
}

void AppendSketch(Sketch sketch, Bytes& out) {
  AppendVarint(sketch.size(), out);
  std::uint16_t before = 0;
  for (const std::uint16_t hash : sketch) {
    AppendVarint(static_cast<std::uint64_t>(hash - std::exchange(before, hash)), out);
  }
}

void SegmentBuilder::AddDoc(std::string_view encoded_ns, const TextDoc& doc,
                            ByteView encoded_sketch) {
  if (info_.docs == 0) {
    ns_ = encoded_ns;
  } else if (ns_ != encoded_ns) {
    EndNamespace();
    ns_ = encoded_ns;
  }
  if (info_.docs % kBlockDocs == 0) EndBlock();
  AppendDoc(doc, last_, docs_);
  last_ = doc;
  Append(encoded_sketch, sketches_);
  ++info_.docs;
}

// Those of documents are written at once: all of them are read before a search.
void SegmentBuilder::EndBlock() {
  out_.Append(docs_);
  docs_.clear();
  doc_blocks_.push_back(out_.size());
  sketch_blocks_.push_back(sketches_.size());
  last_ = {};
}

void SegmentBuilder::EndNamespace() {
  Bytes payload;
  AppendVarint(first_of_ns_, payload);
  AppendVarint(info_.docs - first_of_ns_, payload);
  namespaces_.Add(ns_, payload);
  first_of_ns_ = info_.docs;
}

void SegmentBuilder::EndDocs() {
  if (std::exchange(has_docs_, true)) return;
  if (info_.docs > 0) EndNamespace();
  EndBlock();
  for (std::uint64_t& offset : sketch_blocks_) offset += out_.size();
  out_.Append(std::exchange(sketches_, {}));
  namespaces_.Finish(out_);
}

void SegmentBuilder::AddToken(std::string_view token, std::span<const Posting> postings) {
  EndDocs();
  entry_.clear();
  AddEntry(token, postings, tokens_);
}

void SegmentBuilder::AddWritten(std::string_view word, std::string_view token,
                                std::span<const Posting> postings) {
  EndDocs();
  entry_.clear();
  AppendText(token, entry_);
  AddEntry(word, postings, written_);
}

void SegmentBuilder::AddEntry(std::string_view word, std::span<const Posting> postings,
                              WordTableWriter& table) {
  postings_.clear();
  Bytes skips;
  std::uint64_t docs = 0, chunk_begin = 0;
  std::uint32_t last = 0, first = 0;
  for (std::size_t i = 0; i < postings.size(); ++docs) {
    if (docs % kChunkDocs == 0) {
      if (docs > 0)
        AppendVarint(postings_.size() - std::exchange(chunk_begin, postings_.size()), skips);
      AppendVarint(postings[i].doc - std::exchange(first, postings[i].doc), skips);
      // A list that has no chunks counts from 0.
      if (docs > 0) last = postings[i].doc;
    }
    i += AppendPosting(postings.subspan(i), last, postings_);
    last = postings[i - 1].doc;
  }
  AppendVarint(postings_.size() - chunk_begin, skips);
  const bool is_within = postings_.size() <= kBytesWithin;
  AppendVarint(docs << 1 | (is_within ? 1 : 0), entry_);
  if (is_within) {
    Append(postings_, entry_);
  } else {
    AppendVarint(out_.size(), entry_);
    AppendVarint(postings_.size(), entry_);
    if (docs > kChunkDocs) Append(skips, entry_);
    out_.Append(postings_);
  }
  table.Add(word, entry_);
  if (table.IsLong()) table.WriteBlocks(out_);
}

SegmentInfo SegmentBuilder::Finish(std::span<const std::string> speakers) {
  EndDocs();
  tokens_.Finish(out_);
  written_.Finish(out_);
  info_.footer = out_.size();
  Bytes footer;
  AppendOffsets(doc_blocks_, footer);
  AppendOffsets(sketch_blocks_, footer);
  AppendVarint(speakers.size() - 1, footer);
  for (const std::string& speaker : speakers.subspan(1)) AppendText(speaker, footer);
  for (const WordTableWriter* table : {&namespaces_, &tokens_, &written_}) {
    table->AppendTable(footer);
  }
  out_.Append(footer);
  out_.Finish();
  info_.size = out_.size();
  return info_;
}

SegmentMerge::SegmentMerge(SegmentPages& pages, std::vector<const TextSegment*> inputs,
                           std::uint32_t number)
    : inputs_(std::move(inputs)), builder_(pages, number) {}

Status SegmentMerge::Begin(FunctionRef<bool(const SegmentInfo&, std::int64_t)> is_live) {
  struct Entry {
    TextDoc doc;
    std::uint32_t input, number;
  };
  std::map<std::string, std::uint32_t, std::less<>> speaker_numbers;
  std::map<std::string, std::vector<Entry>, std::less<>> namespaces;
  std::vector<Bytes> sketches(inputs_.size());
  std::vector<std::vector<std::size_t>> sketch_ends(inputs_.size());
  for (std::uint32_t input = 0; input < inputs_.size(); ++input) {
    const TextSegment& segment = *inputs_[input];
    new_docs_.emplace_back(segment.info().docs, kGone);
    TextSegment::DocCursor docs(segment);
    Status status = segment.ReadSketches(sketches[input], sketch_ends[input]);
    if (!status.ok()) return status;
    TextSegment::NamespaceCursor each(segment, "");
    while (each.Next()) {
      std::vector<Entry>* entries = nullptr;
      for (std::uint32_t number = each.docs().first; number < each.docs().end; ++number) {
        TextDoc doc = docs.Read(number);
        if (!docs.status().ok()) return docs.status();
        if (!is_live(segment.info(), doc.id)) continue;
        if (doc.speaker != 0) {
          const auto [known, is_new] = speaker_numbers.try_emplace(
              segment.speakers()[doc.speaker], static_cast<std::uint32_t>(speakers_.size()));
          if (is_new) speakers_.push_back(known->first);
          doc.speaker = known->second;
        }
        if (entries == nullptr) entries = &namespaces.try_emplace(each.encoded()).first->second;
        entries->push_back({doc, input, number});
      }
    }
    if (!each.status().ok()) return each.status();
  }
  std::uint32_t next = 0;
  for (auto& [ns, entries] : namespaces) {
    const auto is_before = [](const Entry& a, const Entry& b) { return IsBefore(a.doc, b.doc); };
    if (!std::ranges::is_sorted(entries, is_before)) HeapSort(entries, is_before);
    for (const Entry& entry : entries) {
      const std::vector<std::size_t>& ends = sketch_ends[entry.input];
      const std::size_t begin = entry.number == 0 ? 0 : ends[entry.number - 1];
      builder_.AddDoc(ns, entry.doc,
                      ByteView(sketches[entry.input]).subspan(begin, ends[entry.number] - begin));
      new_docs_[entry.input][entry.number] = next++;
    }
  }
  return {};
}

Result<bool> SegmentMerge::Step(std::uint64_t bytes) {
  const std::uint64_t end = read_ + builder_.size() + bytes;
  while (true) {
    const Result<bool> is_done = MergeWords(has_tokens_, end);
    if (!is_done || !*is_done) return is_done;
    if (std::exchange(has_tokens_, true)) break;
    cursors_.clear();
  }
  info_ = builder_.Finish(speakers_);
  for (const TextSegment* input : inputs_)
    info_.newest = std::max(info_.newest, input->info().newest);
  return true;
}

Result<bool> SegmentMerge::MergeWords(bool is_written, std::uint64_t end) {
  if (cursors_.empty()) {
    has_word_.assign(inputs_.size(), false);
    cursors_.reserve(inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      cursors_.emplace_back(is_written ? inputs_[i]->written() : inputs_[i]->tokens());
      has_word_[i] = cursors_[i].Next();
      if (!cursors_[i].status().ok()) return std::unexpected(cursors_[i].status());
    }
  }
  std::string word, token;
  while (read_ + builder_.size() < end) {
    const std::string* least = nullptr;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (has_word_[i] && (least == nullptr || cursors_[i].word() < *least)) {
        least = &cursors_[i].word();
      }
    }
    if (least == nullptr) return true;
    word = *least;
    postings_.clear();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!has_word_[i] || cursors_[i].word() != word) continue;
      ByteReader payload(cursors_[i].payload());
      if (is_written) token = payload.Text();
      if (Status status = MapPostings(i, payload.rest()); !status.ok()) {
        return std::unexpected(std::move(status));
      }
      has_word_[i] = cursors_[i].Next();
      if (!cursors_[i].status().ok()) return std::unexpected(cursors_[i].status());
    }
    if (postings_.empty()) continue;
    SortPostings();
    if (is_written) {
      builder_.AddWritten(word, token, postings_);
    } else {
      builder_.AddToken(word, postings_);
    }
  }
  return false;
}

Status SegmentMerge::MapPostings(std::size_t input, ByteView entry) {
  some_.clear();
  const std::uint32_t docs = inputs_[input]->info().docs;
  Status status = inputs_[input]->ReadPostings(entry, {0, docs}, some_);
  if (!status.ok()) return status;
  read_ += entry.size() + some_.size();
  for (Posting posting : some_) {
    if (posting.doc >= docs) return Damaged();
    posting.doc = new_docs_[input][posting.doc];
    if (posting.doc != kGone) postings_.push_back(posting);
  }
  return {};
}

void SegmentMerge::SortPostings() {
  const auto is_before = [](const Posting& a, const Posting& b) {
    return std::tie(a.doc, a.place) < std::tie(b.doc, b.place);
  };
  if (!std::ranges::is_sorted(postings_, is_before)) HeapSort(postings_, is_before);
}

}  // namespace keepsake::search
