// Polled point-to-point messages between ranks, over MPI (mpi_operations.cpp) or slower links.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "spec/trial_spec.hpp"

namespace chexbench::comm {

// Returns true once the message is complete, so that its bytes may be used again. Must be polled on one thread until
// then.
using Transfer = std::function<bool()>;

// Messages from one rank to another arrive in the order in which they were sent. A receive takes the next message,
// whose size it must know. The bytes must stay in place until the transfer is complete. Used by one thread.
// @throws DeviceError, at once or from a transfer, if the other rank was lost
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Transfer send(int peer, std::span<const std::byte> bytes) = 0;
  virtual Transfer receive(int peer, std::span<std::byte> bytes) = 0;
};

// Convert gradients to and from the 16-bit types in which they may be sent (comm.gradient_dtype): `dtype` is one of the
// 16-bit types, and `wire` has bytes_of(dtype) bytes per value. Narrowing rounds as in core/half.hpp: to nearest, ties
// to even; values that are too large become infinity. Pure.
void pack(std::span<const float> values, FloatType dtype, std::span<std::byte> wire);
void unpack(std::span<const std::byte> wire, FloatType dtype, std::span<float> values);

// The speed of each rank's links.
struct LinkShape {
  double latency_s = 0;  // added to each message
  // Bandwidth of each rank's outgoing link, and of its incoming link. Messages in one direction queue.
  double bytes_per_s = 0;
};

// Slows down a transport's links, so that schemes can be compared on one host: adds the link's times to those of
// `inner`. A message leaves after the earlier outgoing messages have left, and arrives after the bytes of earlier
// incoming messages have come in. Without contention a message of S bytes takes latency + S / bandwidth longer. `clock`
// returns seconds. Used by one thread, like `inner`. Transfers must not outlive the transport.
std::unique_ptr<Transport> make_shaped_transport(std::unique_ptr<Transport> inner, const LinkShape& shape,
                                                 std::function<double()> clock);

}  // namespace chexbench::comm
