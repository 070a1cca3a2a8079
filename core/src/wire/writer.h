// A Writer appends values to bytes, little-endian; README.md has the grammar.
#ifndef KEEPSAKE_WIRE_WRITER_H_
#define KEEPSAKE_WIRE_WRITER_H_

#include <bit>
#include <concepts>
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
  explicit Writer(Bytes& out) : out_(out) {}

  std::size_t size() const { return out_.size(); }
  void Truncate(std::size_t size) { out_.resize(size); }

  template <typename T>
    requires std::integral<T> || std::floating_point<T>
  void Put(T value) {
    PutRaw(&value, sizeof(value));
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
    return out_.size();
  }
  void EndLength(std::size_t begin) {
    const auto length = static_cast<std::uint32_t>(out_.size() - begin);
    std::memcpy(out_.data() + begin - sizeof(length), &length, sizeof(length));
  }

 private:
  void PutRaw(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    out_.insert(out_.end(), bytes, bytes + size);
  }
  void PutCounted(const void* data, std::size_t count, std::size_t element_size) {
    Put(static_cast<std::uint32_t>(count));
    PutRaw(data, count * element_size);
  }

  Bytes& out_;
};

}  // namespace keepsake::wire

#endif  // KEEPSAKE_WIRE_WRITER_H_
