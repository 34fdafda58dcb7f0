#include "comm/mpi_collectives.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "comm/mpi_library.hpp"

namespace chexbench::comm {
namespace {

constexpr std::size_t kPieceBytes = 4u << 20;  // README.md: faster than whole buckets
constexpr std::size_t kHandshakeBytes = 64u << 10;

template <typename T>
MPI_Datatype datatype();
template <>
MPI_Datatype datatype<float>() {
  return MPI_FLOAT;
}
template <>
MPI_Datatype datatype<double>() {
  return MPI_DOUBLE;
}

// Sums `values` over ranks in pieces, and multiplies each piece by `scale` while it is still in the cache.
template <typename T>
class AllReduce {
 public:
  AllReduce(MPI_Comm comm, std::span<T> values, T scale) : comm_(comm), rest_(values), scale_(scale) {}

  Progress operator()() {
    if (current_) {
      if (current_() != Progress::done) return Progress::waiting;
      current_ = nullptr;
      for (T& value : piece_) value *= scale_;
    }
    if (rest_.empty()) return Progress::done;
    piece_ = rest_.first(std::min(rest_.size(), kPieceBytes / sizeof(T)));
    rest_ = rest_.subspan(piece_.size());
    current_ = make_poll("MPI_Iallreduce", [comm = comm_, piece = piece_](MPI_Request* request) {
      return mpi().iallreduce(MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size()), datatype<T>(), MPI_SUM, comm,
                              request);
    });
    return Progress::moved;
  }

 private:
  MPI_Comm comm_;
  std::span<T> piece_;
  std::span<T> rest_;
  T scale_;
  Poll current_;
};

template <typename T>
Poll sum_in_pieces(MPI_Comm comm, std::span<T> values, T scale) {
  return begin_together(comm, values.size_bytes(), AllReduce<T>(comm, values, scale));
}

}  // namespace

Poll make_poll(std::string_view what, std::function<int(MPI_Request*)> post) {
  return [what, post = std::move(post), request = MPI_REQUEST_NULL, begun = false]() mutable {
    if (!std::exchange(begun, true)) check_mpi(post(&request), what);
    int complete = 0;
    check_mpi(mpi().test(&request, &complete, MPI_STATUS_IGNORE), what);
    return complete != 0 ? Progress::done : Progress::waiting;
  };
}

Poll make_barrier(MPI_Comm comm) {
  return make_poll("MPI_Ibarrier", [comm](MPI_Request* request) { return mpi().ibarrier(comm, request); });
}

Poll begin_together(MPI_Comm comm, std::size_t bytes, Poll sum) {
  if (bytes <= kHandshakeBytes) return sum;
  return [barrier = make_barrier(comm), sum = std::move(sum)]() mutable {
    if (!barrier) return sum();
    if (barrier() != Progress::done) return Progress::waiting;
    barrier = nullptr;
    return Progress::moved;
  };
}

Poll make_all_reduce(MPI_Comm comm, std::span<float> values, float scale) { return sum_in_pieces(comm, values, scale); }
Poll make_all_reduce(MPI_Comm comm, std::span<double> values, double scale) {
  return sum_in_pieces(comm, values, scale);
}

}  // namespace chexbench::comm
