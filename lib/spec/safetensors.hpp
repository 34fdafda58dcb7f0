// Weights in a safetensors file (huggingface/safetensors: 8 bytes of header length, a JSON header, raw tensors).
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

// A file of named tensors, mapped. Thread-safe. Who replaces such a file renames it: one that another program cuts
// short in place while it is read is a SIGBUS.
class Safetensors {
 public:
  // Checks the whole header: its length, the type, shape and place of each tensor, that tensors follow each other
  // without gap or overlap up to the end of the file, and that no name comes twice. `subject` begins messages.
  // @throws DataError for a file that cannot be read, or naming the tensor and what is wrong with it
  explicit Safetensors(const std::string& path, const std::string& subject = "model.weights");

  bool contains(const std::string& name) const { return tensors_.contains(name); }
  // The text under "__metadata__" with that key, if there is one.
  std::optional<std::string> metadata(const std::string& key) const;
  // Empty where there is no such tensor.
  std::vector<std::int64_t> shape(const std::string& name) const;
  // Copies one tensor, row-major. @throws DataError naming the file and the tensor where it is missing (with the
  // nearest name), no F32, or of another shape
  void read(const std::string& name, const std::vector<std::int64_t>& shape, std::span<float> values) const;

 private:
  struct Entry {
    std::string type;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
  };
  void read_header(std::span<const std::byte> file);
  void check_places(std::span<const std::byte> data) const;

  const std::string where_;  // "model.weights: FILE"
  std::shared_ptr<const void> mapping_;
  std::map<std::string, Entry> tensors_;
  std::map<std::string, std::string> metadata_;
};

// A tensor to be written: F32 values that `fill` writes, row-major, or one I64 scalar.
struct TensorToWrite {
  std::string name;
  std::vector<std::int64_t> shape;
  std::function<void(std::span<float>)> fill;
  std::int64_t scalar = 0;  // where `fill` is empty

  std::uint64_t count() const;
};

// Writes a file atomically, tensor by tensor: as much memory as the largest one takes.
// @throws OutputError, after which an earlier file of that name is as it was
void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace chexbench::spec
