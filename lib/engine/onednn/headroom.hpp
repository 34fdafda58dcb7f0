// Whether there is memory left for what oneDNN and OpenMP allocate themselves. oneDNN 2.6 writes through a null pointer
// where its code generator gets none, and libgomp ends the process where a thread cannot start, so they are not called
// when memory is that short.
#pragma once

#include <dnnl.hpp>
#include <new>

namespace chexbench::engine::onednn {

// @throws std::bad_alloc if the system does not grant a block larger than what creating a primitive takes
void check_headroom();

// Starts and ends as many threads as a team has beside the calling one. @throws std::system_error if one cannot start
void check_threads(int team);

// Checks the headroom and calls `body`. @throws std::bad_alloc also where oneDNN runs out of memory in it
template <typename Body>
auto with_headroom(const Body& body) {
  check_headroom();
  try {
    return body();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    check_headroom();  // some of its functions call a lack of memory something else
    throw;
  }
}

}  // namespace chexbench::engine::onednn
