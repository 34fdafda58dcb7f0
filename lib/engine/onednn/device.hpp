// What computes: the oneDNN engine of this CPU, and the choices that follow from its instruction set and precision.
#pragma once

#include <dnnl.hpp>

#include "engine/onednn/kernels.hpp"
#include "spec/experiment.hpp"

namespace chexbench::engine {

struct Device {
  dnnl::engine engine;
  dnnl::stream stream;
  Isa isa = Isa::baseline;
  ElementType type = ElementType::f32;  // of activations and their gradients
  int block = 8;                        // channels of a block in oneDNN's native layout
  const Kernels* kernels = nullptr;

  dnnl::memory::data_type data_type() const {
    return type == ElementType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
  }
};

// @throws DeviceError where the CPU lacks the precision; the message says which ones it has
Device make_device(spec::Precision precision);

// "AMD EPYC, AVX-512, oneDNN 2.6.3, 2 threads"
std::string device_text(const Device& device);

}  // namespace chexbench::engine
