#include "comm/mpi_transport.hpp"

#include <mpi.h>

#include "comm/mpi_check.hpp"

namespace chexbench::comm {
namespace {

constexpr int kTag = 1;

Transfer poll(MPI_Request request) {
  return [request]() mutable {
    int complete = 0;
    check_mpi(MPI_Test(&request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
    return complete != 0;
  };
}

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm comm) : comm_(comm) {}

  Transfer send(int peer, std::span<const float> values) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(values.data(), static_cast<int>(values.size()), MPI_FLOAT, peer, kTag, comm_, &request),
              "MPI_Isend");
    return poll(request);
  }

  Transfer receive(int peer, std::span<float> values) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(values.data(), static_cast<int>(values.size()), MPI_FLOAT, peer, kTag, comm_, &request),
              "MPI_Irecv");
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
