// What flows between ops: one element is a file, a record, an example or a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>

#include "core/batch.hpp"
#include "dataset/dataset.hpp"
#include "pipeline/example_pool.hpp"

namespace chexbench::pipeline {

// A file of the data set: index into Dataset::images (png) or Dataset::shards (formats of shards).
struct FileRef {
  std::uint32_t file = 0;
};

// One image, still encoded. Of a PNG a handle: its bytes are read by the op that decodes it. Of a shard a view of
// the record in the mapped file: no copy, and no anonymous memory; where it is compressed or comes from afar, a copy.
struct Record {
  std::uint32_t file = 0;                   // as FileRef::file
  std::uint64_t offset = 0;                 // in the shard
  std::span<const std::byte> bytes;         // empty: still in the file
  std::shared_ptr<const void> bytes_owner;  // keeps `bytes` alive
};

// One decoded image in memory of its own.
struct Example {
  ExampleMemory image;  // BatchShape::image_bytes()
  LabelBits labels;
  ExampleId id;
};

// Move-only, as what it holds.
struct Element {
  std::uint32_t epoch = 0;  // of the source when this element left it; a batch carries the epoch of each image
  std::variant<std::monostate, FileRef, Record, Example, BatchLease> value;

  // Decoded images in it.
  std::int64_t images() const;
  // Anonymous memory that it keeps in use. `image_bytes`: of one decoded image.
  std::int64_t held_bytes(std::size_t image_bytes) const;
};

// Writes `labels` as 0 and 1 in the order of Dataset::label_names. `out` holds as many values.
void expand_labels(const LabelBits& labels, std::span<float> out);

}  // namespace chexbench::pipeline
