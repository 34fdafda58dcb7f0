// WebDataset's shards: tar files whose consecutive members of one key are a sample, as the Python library `webdataset`
// has it. The key of a member is its path up to the first dot of its file name, the rest is its kind, in any case:
// png, jpg or jpeg holds the image; json or cls its labels.
// json: {"label": [a number for each label of the data set, 0 or 1, in their order] or [names of labels],
// "filename": ..., "patient": ...}; without a filename it is the image member's own. cls: the index of one label. Other
// members are ignored.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "formats/record.hpp"
#include "formats/shard_reader.hpp"
#include "formats/tar.hpp"

namespace chexbench::formats {

// The samples of one shard, each as the blocks of its members: of a mapped shard a view, else a copy.
// A sample without an image or without labels is a record, too: parse_sample() refuses it, and the next one follows.
class TarSampleReader final : public ShardReader {
 public:
  explicit TarSampleReader(std::unique_ptr<storage::ByteStream> stream) : stream_(std::move(stream)), tar_(*stream_) {}

  // Where a member is damaged, the sample before it still comes; nothing follows.
  std::optional<ShardRecord> next() override;

 private:
  bool add_members(ShardRecord& sample);

  const std::unique_ptr<storage::ByteStream> stream_;
  TarReader tar_;
  std::optional<TarMember> member_;  // whose contents were not taken yet
  std::exception_ptr failure_;       // to be told behind the sample before it
  bool ended_ = false;
};

// Reads a sample of a data set with these labels. `origin.offset` is that of its first block. Thread-safe.
// @throws DataError naming the origin, the sample's key and the reason: no image, no labels, two of one kind, labels
// that cannot be read
RecordView parse_sample(std::span<const std::byte> sample, const RecordOrigin& origin,
                        std::span<const std::string> label_names);

}  // namespace chexbench::formats
