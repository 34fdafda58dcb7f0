// Samples the GPU that an engine computes on while its repeats run, and selects the samples of each repeat.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/gpu_sampler.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// There is one per engine. Not thread-safe: only the loop's thread uses it; another thread takes the samples.
class GpuWatch {
 public:
  // Finds the GPU through NVML, which may take a second. If NVML does not answer, every series has no samples, with the
  // reason. `gpu_uuid` is empty for an engine without a GPU; nothing is sampled then. Never throws.
  explicit GpuWatch(std::string gpu_uuid);

  // Start and stop the sampling: before the warm-up of a repeat and after its last step.
  void begin();
  void end();

  // Returns the samples since begin() that are in or next to the measured window of `result`, which holds the steps of
  // `rank`. Returns nothing for an engine without a GPU.
  std::vector<results::GpuSeries> series(const results::RepeatResult& result, int rank) const;

  // Returns NVML's information about a repeat that ended with a device error, as " (NVML: ...)": memory errors since
  // begin(), or the loss of the GPU. Returns "" if there is none. Stops the sampling.
  std::string last_words();

 private:
  std::string gpu_uuid_;
  std::string problem_;  // why there is no sampler
  std::optional<measure::GpuSampler> sampler_;
};

// Returns a sentence for each GPU with new uncorrected ECC errors during the repeat.
std::vector<std::string> ecc_notes(const results::RepeatResult& repeat);

}  // namespace chexbench::bench
