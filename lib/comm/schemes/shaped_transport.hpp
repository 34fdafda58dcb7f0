// A transport over slower links, so that schemes can be compared on one host.
#pragma once

#include <functional>
#include <memory>

#include "comm/schemes/transport.hpp"

namespace chexbench::comm {

struct LinkShape {
  double latency_s = 0;    // of each message
  double bytes_per_s = 0;  // of each rank's way out, and of its way in: messages of one way follow each other
};

// Adds the link's times to those of `inner`: a message leaves when those before it have left, and is there when its
// bytes have come in behind those of earlier ones. `clock` tells seconds. Without contention a message of S bytes takes
// latency + S / bandwidth more.
std::unique_ptr<Transport> make_shaped_transport(std::unique_ptr<Transport> inner, const LinkShape& shape,
                                                 std::function<double()> clock);

}  // namespace chexbench::comm
