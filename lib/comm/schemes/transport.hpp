// Messages between ranks, polled. mpi_transport.cpp has them over MPI, shaped_transport.cpp over slower links.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace chexbench::comm {

// True when the message is complete: its bytes may be used again. Called on one thread until then.
using Transfer = std::function<bool()>;

// Messages of one rank to another arrive in the order in which they were sent, and a receive takes the next one, whose
// length it must know. Used by one thread. The bytes stay where they are until the transfer is complete.
// @throws DeviceError, at once or from a transfer, where the other rank was lost
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Transfer send(int peer, std::span<const std::byte> bytes) = 0;
  virtual Transfer receive(int peer, std::span<std::byte> bytes) = 0;
};

}  // namespace chexbench::comm
