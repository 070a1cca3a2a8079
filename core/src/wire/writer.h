// A Writer appends values to bytes, little-endian; README.md has the grammar. The bytes
// are longer than what was written until it is destroyed: a vector that grows value by
// value costs a fifth of a small search.
#ifndef KEEPSAKE_WIRE_WRITER_H_
#define KEEPSAKE_WIRE_WRITER_H_

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "keepsake/bytes.h"
#include "wire/layout.h"

namespace keepsake::wire {

static_assert(std::endian::native == std::endian::little, "frames are written by memcpy");

class Writer {
 public:
  // `out` is borrowed.
  explicit Writer(Bytes& out) : out_(out), size_(out.size()) {}
  ~Writer() { out_.resize(size_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  std::size_t size() const { return size_; }
  // Room for `bytes` more, found once: growing needs three times as much.
  void Reserve(std::size_t bytes) { out_.reserve(size_ + bytes); }
  void Truncate(std::size_t size) { size_ = size; }
  // What was written from there on. Valid until more is.
  ByteView From(std::size_t begin) const { return ByteView(out_).subspan(begin, size_ - begin); }

  template <typename T>
    requires std::integral<T> || std::floating_point<T>
  void Put(T value) {
    std::memcpy(Room(sizeof(value)), &value, sizeof(value));
  }
  void Put(bool value) { Put(static_cast<std::uint8_t>(value)); }
  template <typename E>
    requires std::is_enum_v<E>
  void Put(E value) {
    Put(static_cast<std::underlying_type_t<E>>(value));
  }
  void Put(std::string_view text) { PutCounted(text.data(), text.size(), 1); }
  void Put(const std::string& text) { Put(std::string_view(text)); }
  void Put(ByteView bytes) { PutCounted(bytes.data(), bytes.size(), 1); }
  void Put(const Bytes& bytes) { Put(ByteView(bytes)); }
  void Put(const std::vector<float>& values) {
    PutCounted(values.data(), values.size(), sizeof(float));
  }
  template <typename T>
  void Put(const std::vector<T>& list) {
    Put(static_cast<std::uint32_t>(list.size()));
    for (const T& element : list) Put(element);
  }
  template <typename T>
  void Put(const std::optional<T>& optional) {
    Put(optional.has_value());
    if (optional) Put(*optional);
  }
  template <Struct T>
  void Put(const T& record) {
    std::apply([this](const auto&... fields) { (this->Put(fields), ...); }, Fields(record));
  }

  // Leaves room for a length and says where; EndLength() fills it in.
  std::size_t BeginLength() {
    Put(std::uint32_t{0});
    return size_;
  }
  void EndLength(std::size_t begin) {
    const auto length = static_cast<std::uint32_t>(size_ - begin);
    std::memcpy(out_.data() + begin - sizeof(length), &length, sizeof(length));
  }

 private:
  // For so many bytes, which are written next.
  std::uint8_t* Room(std::size_t size) {
    constexpr std::size_t kFirst = 1024;
    const std::size_t begin = size_;
    size_ += size;
    if (out_.size() < size_) {
      const std::size_t twice = std::max({kFirst, 2 * out_.size(), size_});
      out_.resize(size_ > out_.capacity() ? twice : std::min(twice, out_.capacity()));
    }
    return out_.data() + begin;
  }
  void PutCounted(const void* data, std::size_t count, std::size_t element_size) {
    Put(static_cast<std::uint32_t>(count));
    std::uint8_t* const room = Room(count * element_size);
    if (count > 0) std::memcpy(room, data, count * element_size);
  }

  Bytes& out_;
  std::size_t size_;
};

}  // namespace keepsake::wire

#endif  // KEEPSAKE_WIRE_WRITER_H_
