// Samples the GPU that an engine computes on while its repeats run, and keeps what belongs to each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/gpu_sampler.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// One an engine. Used by the thread that runs the loop; the samples are taken by a thread of their own.
class GpuWatch {
 public:
  // Finds the GPU through NVML, which may take a second. Where NVML does not answer, every series says why and has no
  // samples. An empty `gpu_uuid`, of an engine that computes on no GPU: nothing is ever sampled. Never throws.
  explicit GpuWatch(std::string gpu_uuid);

  // To be called before the warm-up of a repeat and after its last step.
  void begin();
  void end();

  // What was seen around the measured window of `result`, of this rank alone, since begin(). None without a GPU.
  std::vector<results::GpuSeries> series(const results::RepeatResult& result, int rank) const;

  // What NVML has to say where a repeat ended with an error of the device, " (NVML: ...)": errors of the GPU's memory
  // since begin(), or that the GPU is lost. Empty where there is nothing. Ends the sampling.
  std::string last_words();

 private:
  std::string gpu_uuid_;
  std::string problem_;  // why there is no sampler
  std::optional<measure::GpuSampler> sampler_;
};

// A sentence for each GPU of the repeat that came up with uncorrected ECC errors while it ran.
std::vector<std::string> ecc_notes(const results::RepeatResult& repeat);

}  // namespace chexbench::bench
