// Reads WebDataset's shards: tar files in which consecutive members with the same key are a sample, as in the Python
// library `webdataset`. The key of a member is its path up to the first dot of its file name. The rest of the name, in
// upper or lower case, identifies the contents:
// - png, jpg, jpeg: the image.
// - json: {"label": [0 or 1 for each label of the data set, in their order] or [names of labels], "filename": ...,
//   "patient": ...}. Without a "filename" the name is that of the image member. For one label, "label" may also be its
//   index or name.
// - cls: the index or name of one label; it is only read if no json has a list "label".
// Other members are ignored.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "formats/record.hpp"
#include "formats/shards.hpp"
#include "formats/tar.hpp"

namespace chexbench::formats {

// Returns each sample of a shard as one record: the header blocks and contents of its members. The record is a view if
// the shard is mapped, else a copy. A sample without an image or without labels is a record, too; parse_sample()
// refuses it, and the next one can still be read. Not thread-safe.
class TarSampleReader final : public ShardReader {
 public:
  explicit TarSampleReader(std::unique_ptr<storage::ByteStream> stream) : stream_(std::move(stream)), tar_(*stream_) {}

  // If a member is damaged, the sample before it is still returned; the DataError follows and ends the shard.
  std::optional<ShardRecord> next() override;

 private:
  bool add_members(ShardRecord& sample);

  const std::unique_ptr<storage::ByteStream> stream_;
  TarReader tar_;
  std::optional<TarMember> member_;  // the first member of the next sample, whose contents were not taken yet
  std::exception_ptr failure_;       // to be thrown after the sample before it
  bool ended_ = false;
};

// Parses a sample that TarSampleReader returned. `origin.offset` is the offset of its first block; `label_names` are
// the labels of the data set. `encoded` of the result is a view into `sample`. Thread-safe.
// @throws DataError naming the origin, the sample's key and the reason if the sample has no image or no labels, has two
// members of one kind, or has labels that cannot be read
RecordView parse_sample(std::span<const std::byte> sample, const RecordOrigin& origin,
                        std::span<const std::string> label_names);

}  // namespace chexbench::formats
