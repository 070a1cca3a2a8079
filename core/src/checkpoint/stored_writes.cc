#include "checkpoint/stored_writes.h"

#include "base/varint.h"
#include "checkpoint/stored_values.h"

namespace keepsake::checkpoint {
namespace {

std::uint64_t ZigZag(std::int32_t number) {
  const auto doubled = static_cast<std::int64_t>(number) * 2;
  return static_cast<std::uint64_t>(number < 0 ? -doubled - 1 : doubled);
}

std::int32_t UnZigZag(std::uint64_t number) {
  const auto half = static_cast<std::int64_t>(number >> 1);
  return static_cast<std::int32_t>((number & 1) != 0 ? -half - 1 : half);
}

}  // namespace

Result<std::vector<StoredWrite>> DecodeWrites(ByteView row) {
  std::vector<StoredWrite> writes;
  ByteReader reader(row);
  while (!reader.done()) {
    StoredWrite write;
    write.idx = UnZigZag(reader.Varint());
    write.channel = reader.Text();
    write.task_path = reader.Text();
    const std::size_t size = StoredValues::SizeOf(reader.rest());
    write.value = reader.Take(size);
    if (!reader.ok() || size == 0) {
      return Error(StatusCode::kCorrupt, "the writes of a task have an unknown layout");
    }
    writes.push_back(write);
  }
  return writes;
}

Bytes EncodeWrites(std::span<const StoredWrite> writes) {
  Bytes row;
  for (const StoredWrite& write : writes) {
    AppendVarint(ZigZag(write.idx), row);
    AppendText(write.channel, row);
    AppendText(write.task_path, row);
    Append(write.value, row);
  }
  return row;
}

}  // namespace keepsake::checkpoint
