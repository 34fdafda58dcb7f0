// Slows down a transport's links, so that schemes can be compared on one host.
#pragma once

#include <functional>
#include <memory>

#include "comm/schemes/transport.hpp"

namespace chexbench::comm {

// The speed of each rank's links.
struct LinkShape {
  double latency_s = 0;  // added to each message
  // Bandwidth of each rank's outgoing link, and of its incoming link. Messages in one direction queue.
  double bytes_per_s = 0;
};

// Adds the link's times to those of `inner`. A message leaves after the earlier outgoing messages have left, and
// arrives after the bytes of earlier incoming messages have come in. Without contention a message of S bytes takes
// latency + S / bandwidth longer. `clock` returns seconds. Used by one thread, like `inner`. Transfers must not
// outlive the transport.
std::unique_ptr<Transport> make_shaped_transport(std::unique_ptr<Transport> inner, const LinkShape& shape,
                                                 std::function<double()> clock);

}  // namespace chexbench::comm
