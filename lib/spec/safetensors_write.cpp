#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/output_file.hpp"
#include "spec/safetensors.hpp"

namespace chexbench::spec {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian, and written as it is");
constexpr std::size_t kAlignment = 8;  // bytes, of the first tensor, as the format's reference library aligns it

template <typename T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string header_of(const std::vector<TensorToWrite>& tensors, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = {{"__metadata__", metadata}};
  std::uint64_t begin = 0;
  for (const TensorToWrite& tensor : tensors) {
    const std::uint64_t end = begin + tensor.count() * (tensor.fill ? sizeof(float) : sizeof(std::int64_t));
    header[tensor.name] = {
        {"dtype", tensor.fill ? "F32" : "I64"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

}  // namespace

std::uint64_t TensorToWrite::count() const {
  std::uint64_t count = 1;
  for (const std::int64_t side : shape) count *= static_cast<std::uint64_t>(side);
  return count;
}

void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  write_file_atomically(path, [&](const WritePiece& write) {
    const std::string header = header_of(tensors, metadata);
    write(bytes_of(std::vector<std::uint64_t>{header.size()}));
    write(header);
    std::vector<float> values;
    for (const TensorToWrite& tensor : tensors) {
      if (!tensor.fill) {
        write(bytes_of(std::vector<std::int64_t>{tensor.scalar}));
        continue;
      }
      values.resize(tensor.count());
      tensor.fill(values);
      write(bytes_of(values));
    }
  });
}

}  // namespace chexbench::spec
