// A Reader takes values from bytes that nobody vouches for. It never reads past
// their end, and allocates no more than a small multiple of what is there,
// whatever lengths and counts the bytes claim.
#ifndef KEEPSAKE_WIRE_READER_H_
#define KEEPSAKE_WIRE_READER_H_

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/status.h"
#include "wire/layout.h"

namespace keepsake::wire {

class Reader {
 public:
  // `bytes` are borrowed.
  explicit Reader(ByteView bytes) : bytes_(bytes) {}

  std::size_t remaining() const { return bytes_.size() - position_; }

  // Each Get() is false if the bytes are wrong; error() then says how, and the
  // reader is of no further use.
  template <typename T>
    requires std::integral<T> || std::floating_point<T>
  bool Get(T& value) {
    if (remaining() < sizeof(T)) return Fail("ends within a number");
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return true;
  }
  bool Get(bool& value) {
    std::uint8_t byte = 0;
    if (!Get(byte)) return false;
    if (byte > 1) return Fail("has a flag that is neither 0 nor 1");
    value = byte == 1;
    return true;
  }
  template <typename E>
    requires std::is_enum_v<E>
  bool Get(E& value) {
    std::underlying_type_t<E> number{};
    if (!Get(number)) return false;
    if (number < EnumRange<E>::kFirst || number > EnumRange<E>::kLast) {
      return Fail("has a choice of no known kind");
    }
    value = static_cast<E>(number);
    return true;
  }
  bool Get(ByteView& bytes) {
    std::size_t length = 0;
    if (!GetCount(length, 1)) return false;
    bytes = bytes_.subspan(position_, length);
    position_ += length;
    return true;
  }
  bool Get(std::string& text) { return GetCounted(text); }
  bool Get(Bytes& bytes) { return GetCounted(bytes); }
  bool Get(std::vector<float>& values) { return GetCounted(values); }
  template <typename T>
  bool Get(std::vector<T>& list) {
    std::size_t count = 0;
    if (!GetCount(count, kLeastBytes<T>)) return false;
    list.resize(count);
    for (T& element : list) {
      if (!Get(element)) return false;
    }
    return true;
  }
  template <typename T>
  bool Get(std::optional<T>& optional) {
    bool present = false;
    if (!Get(present)) return false;
    return !present || Get(optional.emplace());
  }
  template <Struct T>
  bool Get(T& record) {
    return std::apply([this](auto&... fields) { return (this->Get(fields) && ...); },
                      Fields(record));
  }

  Status error() const;

 private:
  // The fewest bytes that a T takes.
  template <typename T>
  static constexpr std::size_t LeastBytes() {
    if constexpr (Struct<T>) {
      using AllFields = decltype(Fields(std::declval<T&>()));
      return []<typename... F>(std::type_identity<std::tuple<F&...>>) {
        return (LeastBytes<F>() + ... + 0);
      }(std::type_identity<AllFields>{});
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      return sizeof(T);
    } else if constexpr (IsOptional<T>::value) {
      return 1;
    } else {
      return sizeof(std::uint32_t);  // the count
    }
  }
  template <typename T>
  struct IsOptional : std::false_type {};
  template <typename T>
  struct IsOptional<std::optional<T>> : std::true_type {};
  template <typename T>
  static constexpr std::size_t kLeastBytes = LeastBytes<T>();

  bool GetCount(std::size_t& count, std::size_t least_bytes_each) {
    std::uint32_t number = 0;
    if (!Get(number)) return false;
    if (number > remaining() / least_bytes_each) return Fail("has a length beyond its end");
    count = number;
    return true;
  }
  template <typename Container>
  bool GetCounted(Container& container) {
    constexpr std::size_t kEach = sizeof(typename Container::value_type);
    std::size_t count = 0;
    if (!GetCount(count, kEach)) return false;
    container.resize(count);
    if (count > 0) std::memcpy(container.data(), bytes_.data() + position_, count * kEach);
    position_ += count * kEach;
    return true;
  }
  bool Fail(const char* reason) {
    reason_ = reason;
    return false;
  }

  ByteView bytes_;
  std::size_t position_ = 0;
  const char* reason_ = nullptr;
};

// All of `bytes` as one T.
template <typename T>
Result<T> Decode(ByteView bytes) {
  Reader reader(bytes);
  T value;
  if (!reader.Get(value)) return std::unexpected(reader.error());
  if (reader.remaining() > 0) {
    return Error(StatusCode::kMalformedFrame, "frame goes on after its end");
  }
  return value;
}

}  // namespace keepsake::wire

#endif  // KEEPSAKE_WIRE_READER_H_
