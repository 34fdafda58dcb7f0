// Weights and checkpoints: safetensors files.
#include "spec/safetensors.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/safetensors_repair.hpp"

namespace chexbench::fuzz {
namespace {

constexpr const char* kTensorNames[] = {"a", "b", "conv1.weight", "__metadata__", ""};

}  // namespace

FUZZ_TARGET(safetensors, "spec/safetensors.cpp", mutate_safetensors) {
  std::optional<spec::Safetensors> file;
  if (!accepted({ExitCode::data}, [&] { return file.emplace(bytes, "model.weights: input"), true; })) return;
  for (const std::string name : kTensorNames) {
    static_cast<void>(file->metadata(name));
    const std::vector<std::int64_t> shape = file->shape(name);
    require(file->contains(name) || shape.empty(), "a tensor that is not there has a shape");
    std::uint64_t count = 1;
    for (const std::int64_t side : shape) {
      if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(side), &count)) count = ~std::uint64_t{0};
    }
    if (count > bytes.size()) count = bytes.size();  // it is of another type, or larger than its file: read() must see
    std::vector<float> values(count);
    accepted({ExitCode::data}, [&] { return file->read(name, shape, values), true; });
  }
}

}  // namespace chexbench::fuzz
