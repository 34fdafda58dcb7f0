// Reads and writes safetensors files: weights and checkpoints. The format (huggingface/safetensors) is 8 bytes of
// header length (little-endian), a JSON header, and the tensors' bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace chexbench::spec {

// A file of named tensors, mapped into memory. Immutable, so threads may share it. A program that replaces such a file
// must do so by rename: reading a file that was truncated in place ends the process with SIGBUS.
class Safetensors {
 public:
  // Opens the file and checks the whole header: its length; the type, shape and place of each tensor; that the tensors
  // fill the file without gaps or overlaps; and that names are unique. Messages begin with `subject`.
  // @throws DataError if the file cannot be read or its header is wrong; the message names the tensor and what is wrong
  explicit Safetensors(const std::string& path, const std::string& subject = "model.weights");
  // Does the same for the bytes of a file, which must outlive the object. Messages begin with `where`.
  Safetensors(std::span<const std::byte> file, std::string where);

  bool contains(const std::string& name) const { return tensors_.contains(name); }
  // Returns the text of `key` in the header's "__metadata__", or std::nullopt if there is none.
  std::optional<std::string> metadata(const std::string& key) const;
  // Returns the file with its names matched to a network's `parameters`: without the parts that wrappers insert
  // ("module.", "_orig_mod."), and without the prefix of most parameters ("backbone.").
  // If no prefix covers at least half of them, names keep their prefix.
  // @throws DataError if two prefixes, neither of them empty, cover equally many
  Safetensors named_as(const std::vector<std::string>& parameters) const;
  // Returns the shape of a tensor. It is empty for a scalar and if there is no such tensor.
  std::vector<std::int64_t> shape(const std::string& name) const;
  // Copies a tensor of F32, F16, BF16 or F64 values, row-major, to `values`, whose size must match `shape`.
  // @throws DataError if there is no such tensor (with the nearest name), or if it has another type or shape
  void read(const std::string& name, const std::vector<std::int64_t>& shape, std::span<float> values) const;

 private:
  struct Entry {
    std::string type;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
  };
  void read_header(std::span<const std::byte> file);
  [[noreturn]] void refuse_header(const std::string& tensor, const std::string& reason) const;
  void check_places(std::span<const std::byte> data) const;

  const std::string where_;  // messages begin with it: "model.weights: FILE"
  std::shared_ptr<const void> mapping_;
  std::map<std::string, Entry> tensors_;
  std::map<std::string, std::string> metadata_;
};

// A tensor to be written: F32 values, or one I64 value.
struct TensorToWrite {
  std::string name;
  std::vector<std::int64_t> shape;             // of one element if `fill` is empty
  std::function<void(std::span<float>)> fill;  // writes count() F32 values, row-major; empty: the tensor is `scalar`
  std::int64_t scalar = 0;                     // the I64 value if `fill` is empty

  // The number of values.
  std::uint64_t count() const;
};

// Writes a safetensors file atomically (core/output_file.hpp). The tensors are filled and written one at a time, so
// memory for the largest one suffices.
// @throws OutputError if the file cannot be written; an existing file at `path` then stays unchanged
void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace chexbench::spec
