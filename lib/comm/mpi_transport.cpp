#include "comm/mpi_transport.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <limits>

#include "comm/mpi_library.hpp"
#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

constexpr int kTag = 1;

Transfer poll(MPI_Request request) {
  return [request]() mutable {
    int complete = 0;
    check_mpi(mpi().test(&request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
    return complete != 0;
  };
}

int message_size(std::span<const std::byte> bytes) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw DeviceError(fmt::format("comm: a message of {} bytes is beyond MPI's limit of 2 GiB: lower comm.bucket_bytes",
                                  bytes.size()));
  }
  return static_cast<int>(bytes.size());
}

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm comm) : comm_(comm) {}

  Transfer send(int peer, std::span<const std::byte> bytes) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(mpi().isend(bytes.data(), message_size(bytes), MPI_BYTE, peer, kTag, comm_, &request), "MPI_Isend");
    return poll(request);
  }

  Transfer receive(int peer, std::span<std::byte> bytes) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(mpi().irecv(bytes.data(), message_size(bytes), MPI_BYTE, peer, kTag, comm_, &request), "MPI_Irecv");
    return poll(request);
  }

 private:
  const MPI_Comm comm_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(const void* mpi_comm) {
  return std::make_unique<MpiTransport>(*static_cast<const MPI_Comm*>(mpi_comm));
}

}  // namespace chexbench::comm
