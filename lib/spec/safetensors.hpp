// Weights from a safetensors file (huggingface/safetensors: 8 bytes of header length, a JSON header, raw tensors).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace chexbench::spec {

// A file of named tensors; only its header is kept in memory. Thread-safe.
class Safetensors {
 public:
  // @throws DataError for a file that cannot be read or whose header is damaged
  explicit Safetensors(const std::string& path);

  bool contains(const std::string& name) const { return tensors_.contains(name); }
  // Reads one tensor, row-major. @throws DataError naming the file and the tensor where it is missing (with the nearest
  // name), no F32, or of another shape
  void read(const std::string& name, const std::vector<std::int64_t>& shape, std::span<float> values) const;

 private:
  struct Entry {
    std::string type;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0;  // in the file
    std::uint64_t end = 0;
  };
  std::string path_;
  std::map<std::string, Entry> tensors_;
};

}  // namespace chexbench::spec
