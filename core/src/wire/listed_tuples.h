// The answer to list_checkpoints. Of a chat, each version of a list is the one after it
// without its last elements: so of a value that begins like another one of the same answer
// only the rest travels. A host copies each answer out of the module, and a browser from one
// worker to another: ten versions of a list cost there what one does.
#ifndef KEEPSAKE_WIRE_LISTED_TUPLES_H_
#define KEEPSAKE_WIRE_LISTED_TUPLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/checkpointer.h"

namespace keepsake::wire {

// A ChannelValue whose bytes are the first `shared` ones of another value, and then `rest`.
struct ListedValue {
  std::string channel;
  std::string version;
  std::string type;
  std::uint32_t shared = 0;
  // Whose they are: the n-th value of the answer with none of another, from 0.
  std::uint32_t whole = 0;
  Bytes rest;
};

// A CheckpointTuple.
struct ListedTuple {
  CheckpointKey key;
  std::string parent_checkpoint_id;
  Blob checkpoint;
  Blob metadata;
  std::vector<ListedValue> values;
  std::vector<PendingWrite> pending_writes;
};

std::vector<ListedTuple> Listed(std::vector<CheckpointTuple> tuples);

}  // namespace keepsake::wire

#endif  // KEEPSAKE_WIRE_LISTED_TUPLES_H_
