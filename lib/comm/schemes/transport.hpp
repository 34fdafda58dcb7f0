// Polled point-to-point messages between ranks. mpi_transport.cpp implements them over MPI, shaped_transport.cpp adds
// slower links.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

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

}  // namespace chexbench::comm
