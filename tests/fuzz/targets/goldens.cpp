// Golden files, which the selftest reads.
#include "fuzz/fuzz.hpp"
#include "fuzz/memory_store.hpp"
#include "spec/golden.hpp"

namespace chexbench::fuzz {

FUZZ_TARGET(golden_engine, "spec/golden.cpp spec/golden.cpp spec/document.cpp") {
  const MemoryFile file(bytes);
  const auto golden = accepted({ExitCode::data}, [&] { return spec::load_engine_golden(file.path()); });
  if (!golden) return;
  require(golden->losses_adam.size() >= 2 && golden->losses_sgd.size() >= 2, "a golden file lacks losses");
  for (const auto& [name, gradient] : golden->gradients) {
    std::int64_t count = 1;
    for (const std::int64_t side : gradient.shape) count *= side;
    require(gradient.index.size() == gradient.value.size(), "a golden gradient lacks values");
    for (const std::size_t index : gradient.index) {
      require(index < static_cast<std::size_t>(count), "a golden gradient's entry is beyond its shape");
    }
  }
}

FUZZ_TARGET(golden_preprocess, "spec/golden.cpp spec/golden.cpp") {
  const MemoryFile file(bytes);
  const auto images = accepted({ExitCode::data}, [&] { return spec::load_preprocess_golden(file.path()); });
  if (!images) return;
  for (const auto& [name, golden] : *images) {
    for (const auto& place : golden.bilinear.places) {
      require(place.row >= 0 && place.row < 224 && place.column >= 0 && place.column < 224, "a pixel is out of place");
    }
  }
}

FUZZ_TARGET(golden_interleave, "spec/golden.cpp spec/golden.cpp") {
  const MemoryFile file(bytes);
  const auto cases = accepted({ExitCode::data}, [&] { return spec::load_interleave_golden(file.path()); });
  if (!cases) return;
  for (const spec::InterleaveGolden& golden : *cases) {
    require(golden.cycle_length >= 1 && golden.block_length >= 1 && golden.file_lengths.size() <= 1000,
            "an order has lengths that were not accepted");
  }
}

}  // namespace chexbench::fuzz
