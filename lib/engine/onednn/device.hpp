// The device that computes: oneDNN's engine for this CPU, and the kernels and tensor layout for its instruction set and
// the precision.
#pragma once

#include <dnnl.hpp>
#include <new>

#include "engine/onednn/kernels.hpp"
#include "model/graph.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::onednn {

// Ops keep references to it, so it must outlive the network. Its oneDNN stream runs primitives before execute()
// returns.
struct Device {
  dnnl::engine engine;
  dnnl::stream stream;
  Isa isa = Isa::baseline;
  FloatType type = FloatType::f32;   // type of activations and their gradients
  Layout layout = Layout::blocked;   // of activations and their gradients: blocked or channels_last
  int block = 8;                     // channels of a block (kernels.hpp): 8, or 16 with AVX-512
  const Kernels* kernels = nullptr;  // for this isa, type and block; static storage

  // oneDNN's name for `type`.
  dnnl::memory::data_type data_type() const {
    return type == FloatType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
  }
};

// Chooses the best instruction set that both this CPU and oneDNN offer and that CHEXBENCH_ISA and DNNL_MAX_CPU_ISA
// allow. If CHEXBENCH_ISA lowers it, oneDNN is lowered with it, for the whole process.
// @throws DeviceError if the CPU lacks the precision; the message lists those that it supports
// @throws SpecError if CHEXBENCH_ISA is an unknown word
Device make_device(spec::Precision precision);

// Whether oneDNN computes on AMX here, if the layout is channels_last and the type bf16. CHEXBENCH_ISA switches it off,
// and so does DNNL_MAX_CPU_ISA.
bool has_amx();

// Returns the device with the layout and the block in which it computes this network fastest: channels_last for bf16 on
// AMX if all channels fill blocks of 8 or 16, otherwise blocked.
Device fit_to_network(Device device, const model::Graph& graph);

// Describes the device for reports: "AMD EPYC, AVX-512, oneDNN 2.6.3, 2 threads". If it is fitted to a network that
// runs on AMX, AMX is named.
std::string device_text(const Device& device);

// Checks that there is enough memory for oneDNN's and OpenMP's own allocations. Without it, oneDNN 2.6's code generator
// writes through a null pointer, and libgomp ends the process if a thread cannot start, so they are not called when
// memory is that short.
// @throws std::bad_alloc if the system does not grant a block larger than creating a primitive takes
void check_headroom();

// Starts and ends as many threads as a team has besides the calling one. @throws std::system_error if one cannot start
void check_threads(int team);

// Checks the headroom and calls `body`. @throws std::bad_alloc, also if oneDNN runs out of memory in it
template <typename Body>
auto with_headroom(const Body& body) {
  check_headroom();
  try {
    return body();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    check_headroom();  // some of its functions report a lack of memory as another error
    throw;
  }
}

}  // namespace chexbench::engine::onednn
