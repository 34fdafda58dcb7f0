#include "comm/mpi_operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/mpi_library.hpp"
#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

constexpr std::size_t kPieceBytes = 4u << 20;  // README.md: faster than whole buckets
constexpr std::size_t kHandshakeBytes = 64u << 10;
constexpr int kMessageTag = 1;
constexpr int kNoteTag = 2;
constexpr std::size_t kMostUnsent = 4096;  // notes to ranks that take nothing: more would only cost memory

bool is_complete(MPI_Request& request, std::string_view what) {
  int complete = 0;
  check_mpi(mpi().test(&request, &complete, MPI_STATUS_IGNORE), what);
  return complete != 0;
}

// Works on `values` in pieces of `most` values: `begin` posts the operation of a piece, and `end` takes its result
// while it is still in the cache.
template <typename T, typename Begin, typename End>
Poll in_pieces(std::span<T> values, std::size_t most, Begin begin, End end) {
  return [rest = values, piece = std::span<T>(), current = Poll(), most, begin = std::move(begin),
          end = std::move(end)]() mutable {
    if (current) {
      if (current() != Progress::done) return Progress::waiting;
      current = nullptr;
      end(piece);
    }
    if (rest.empty()) return Progress::done;
    piece = rest.first(std::min(rest.size(), most));
    rest = rest.subspan(piece.size());
    current = begin(piece);
    return Progress::moved;
  };
}

// Returns the sum over ranks of `count` elements at `data`, in place.
Poll post_sum(MPI_Comm comm, void* data, std::size_t count, MPI_Datatype type, MPI_Op sum) {
  return make_poll("MPI_Iallreduce", [=](MPI_Request* request) {
    return mpi().iallreduce(MPI_IN_PLACE, data, static_cast<int>(count), type, sum, comm, request);
  });
}

template <typename T>
Poll sum_in_pieces(MPI_Comm comm, std::span<T> values, T scale, MPI_Datatype type) {
  const auto begin = [=](std::span<T> piece) { return post_sum(comm, piece.data(), piece.size(), type, MPI_SUM); };
  const auto end = [=](std::span<T> piece) {
    for (T& value : piece) value *= scale;
  };
  return begin_together(comm, values.size_bytes(), in_pieces(values, kPieceBytes / sizeof(T), begin, end));
}

// MPI calls this to add `from` to `to`.
template <typename T>
void add_halves(void* from, void* to, int* count, MPI_Datatype*) {
  constexpr std::size_t kRun = 512;
  std::array<float, kRun> a, b;
  const auto values = static_cast<std::size_t>(*count);
  for (std::size_t first = 0; first < values; first += kRun) {
    const std::size_t run = std::min(kRun, values - first);
    const std::span<T> sums(static_cast<T*>(to) + first, run);
    widen(std::span<const T>(static_cast<const T*>(from) + first, run), std::span(a).first(run));
    widen(std::span<const T>(sums), std::span(b).first(run));
    for (std::size_t i = 0; i < run; ++i) b[i] += a[i];
    narrow(std::span<const float>(b).first(run), sums);
  }
}

MPI_Op make_operation(MPI_User_function* function) {
  MPI_Op operation = MPI_OP_NULL;
  constexpr int kCommutes = 1;
  check_mpi(mpi().op_create(function, kCommutes, &operation), "MPI_Op_create");
  return operation;
}

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm comm) : comm_(comm) {}

  Transfer send(int peer, std::span<const std::byte> bytes) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(mpi().isend(bytes.data(), message_size(bytes), MPI_BYTE, peer, kMessageTag, comm_, &request),
              "MPI_Isend");
    return until_complete(request);
  }

  Transfer receive(int peer, std::span<std::byte> bytes) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(mpi().irecv(bytes.data(), message_size(bytes), MPI_BYTE, peer, kMessageTag, comm_, &request),
              "MPI_Irecv");
    return until_complete(request);
  }

 private:
  static int message_size(std::span<const std::byte> bytes) {
    return checked_size(bytes.size(), "a message", ": lower comm.bucket_bytes");
  }
  static Transfer until_complete(MPI_Request request) {
    return [request]() mutable { return is_complete(request, "MPI_Test"); };
  }

  const MPI_Comm comm_;
};

static_assert(std::is_trivially_copyable_v<WaitNote>);

class MpiNotes final : public NoteLinks {
 public:
  explicit MpiNotes(MPI_Comm comm) : comm_(comm) {}

  void send(int rank, const WaitNote& note) override {
    forget_sent();
    if (unsent_.size() >= kMostUnsent) return;
    Sending& sending = unsent_.emplace_back(Sending{note, MPI_REQUEST_NULL});
    check_mpi(mpi().isend(&sending.note, sizeof(WaitNote), MPI_BYTE, rank, kNoteTag, comm_, &sending.request),
              "MPI_Isend");
  }

  std::optional<std::pair<int, WaitNote>> receive() override {
    int has_come = 0;
    MPI_Status status;
    check_mpi(mpi().iprobe(MPI_ANY_SOURCE, kNoteTag, comm_, &has_come, &status), "MPI_Iprobe");
    if (has_come == 0) {
      forget_sent();
      return {};
    }
    WaitNote note;
    check_mpi(mpi().recv(&note, sizeof(WaitNote), MPI_BYTE, status.MPI_SOURCE, kNoteTag, comm_, MPI_STATUS_IGNORE),
              "MPI_Recv");
    return std::pair(status.MPI_SOURCE, note);
  }

 private:
  struct Sending {
    WaitNote note;
    MPI_Request request;
  };
  void forget_sent() {
    std::erase_if(unsent_, [](Sending& sending) { return is_complete(sending.request, "MPI_Test"); });
  }

  const MPI_Comm comm_;
  std::list<Sending> unsent_;  // a list, because MPI reads the notes where they are
};

}  // namespace

int checked_size(std::size_t bytes, std::string_view what, std::string_view remedy) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw DeviceError(fmt::format("comm: {} of {} bytes is beyond MPI's limit of 2 GiB{}", what, bytes, remedy));
  return static_cast<int>(bytes);
}

Poll make_poll(std::string_view what, std::function<int(MPI_Request*)> post) {
  return [what, post = std::move(post), request = MPI_REQUEST_NULL, begun = false]() mutable {
    if (!std::exchange(begun, true)) check_mpi(post(&request), what);
    return is_complete(request, what) ? Progress::done : Progress::waiting;
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

Poll make_all_reduce(MPI_Comm comm, std::span<float> values, float scale) {
  return sum_in_pieces(comm, values, scale, MPI_FLOAT);
}
Poll make_all_reduce(MPI_Comm comm, std::span<double> values, double scale) {
  return sum_in_pieces(comm, values, scale, MPI_DOUBLE);
}

HalfSums::HalfSums() : half_(make_operation(add_halves<Half>)), bfloat16_(make_operation(add_halves<BFloat16>)) {}

void HalfSums::free() {
  mpi().op_free(&half_);
  mpi().op_free(&bfloat16_);
}

Poll HalfSums::average(MPI_Comm comm, std::span<float> values, FloatType dtype, int ranks) const {
  const auto wire = std::make_shared<std::vector<std::byte>>();
  const auto begin = [=, scale = 1.0f / static_cast<float>(ranks),
                      sum = dtype == FloatType::fp16 ? half_ : bfloat16_](std::span<float> piece) {
    for (float& value : piece) value *= scale;
    wire->resize(piece.size() * sizeof(Half));
    pack(piece, dtype, *wire);
    return post_sum(comm, wire->data(), piece.size(), MPI_UINT16_T, sum);
  };
  const auto end = [=](std::span<float> piece) { unpack(*wire, dtype, piece); };
  return begin_together(comm, values.size_bytes(), in_pieces(values, kPieceBytes / sizeof(Half), begin, end));
}

std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm) { return std::make_unique<MpiTransport>(comm); }

std::unique_ptr<NoteLinks> make_mpi_notes(MPI_Comm comm) { return std::make_unique<MpiNotes>(comm); }

}  // namespace chexbench::comm
