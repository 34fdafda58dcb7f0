#include "spec/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"

namespace chexbench::spec {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian, and read as they are");
constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeaderBytes = 100'000'000;  // the format's own limit

}  // namespace

Safetensors::Safetensors(const std::string& path) : path_(path) {
  std::error_code error;
  // Looked at before it is opened: to open a FIFO is to wait for its writer.
  if (!std::filesystem::is_regular_file(path, error)) {
    throw DataError(
        fmt::format("model.weights: {}: cannot be read: {}", path, error ? error.message() : "not a regular file"));
  }
  std::ifstream file(path, std::ios::binary);
  const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
  if (!file || error) throw DataError(fmt::format("model.weights: {}: cannot be read", path));
  std::uint64_t header_bytes = 0;
  file.read(reinterpret_cast<char*>(&header_bytes), kLengthBytes);
  if (!file || file_bytes < kLengthBytes || header_bytes > std::min(file_bytes - kLengthBytes, kMostHeaderBytes)) {
    throw DataError(
        fmt::format("model.weights: {}: no safetensors file, its header would be {} bytes long", path, header_bytes));
  }
  std::string header(header_bytes, ' ');
  file.read(header.data(), static_cast<std::streamsize>(header_bytes));
  const std::uint64_t data_begin = kLengthBytes + header_bytes;
  try {
    const nlohmann::json tensors = nlohmann::json::parse(header);
    for (const auto& [name, tensor] : tensors.items()) {
      if (name == "__metadata__") continue;
      const std::array<std::uint64_t, 2> offsets = tensor.at("data_offsets");
      if (offsets[0] > offsets[1] || offsets[1] > file_bytes - data_begin) {
        throw DataError(fmt::format("model.weights: {}: tensor '{}' ends beyond the file", path, name));
      }
      tensors_[name] = {tensor.at("dtype"), tensor.at("shape"), data_begin + offsets[0], data_begin + offsets[1]};
    }
  } catch (const nlohmann::json::exception& wrong) {
    throw DataError(fmt::format("model.weights: {}: damaged header: {}", path, wrong.what()));
  }
}

void Safetensors::read(const std::string& name, const std::vector<std::int64_t>& shape, std::span<float> values) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, entry] : tensors_) names.push_back(known);
    throw DataError(fmt::format("model.weights: {} has no tensor '{}'{}", path_, name, suggestion(name, names)));
  }
  const Entry& entry = found->second;
  if (entry.type != "F32" || entry.shape != shape || entry.end - entry.begin != values.size_bytes()) {
    throw DataError(fmt::format("model.weights: {}: tensor '{}' is {} {}, the model needs F32 {}", path_, name,
                                entry.type, entry.shape, shape));
  }
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(entry.begin));
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  if (!file) throw DataError(fmt::format("model.weights: {}: tensor '{}' cannot be read", path_, name));
}

}  // namespace chexbench::spec
