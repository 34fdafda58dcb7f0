#include "comm/mpi_half_sums.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <vector>

#include "comm/mpi_library.hpp"
#include "comm/schemes/transport.hpp"
#include "core/half.hpp"

namespace chexbench::comm {
namespace {

constexpr std::size_t kPieceValues = 2u << 20;  // 4 MB per piece; README.md has the measurements for f32

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

class HalfAverage {
 public:
  HalfAverage(MPI_Comm comm, MPI_Op sum, std::span<float> values, FloatType dtype, float scale)
      : comm_(comm), sum_(sum), rest_(values), dtype_(dtype), scale_(scale) {}

  Progress operator()() {
    if (request_ != MPI_REQUEST_NULL) {
      int complete = 0;
      check_mpi(mpi().test(&request_, &complete, MPI_STATUS_IGNORE), "MPI_Iallreduce");
      if (complete == 0) return Progress::waiting;
      unpack(wire_, dtype_, piece_);
    }
    if (rest_.empty()) return Progress::done;
    begin_piece();
    return Progress::moved;
  }

 private:
  void begin_piece() {
    piece_ = rest_.first(std::min(rest_.size(), kPieceValues));
    rest_ = rest_.subspan(piece_.size());
    for (float& value : piece_) value *= scale_;
    wire_.resize(piece_.size() * sizeof(Half));
    pack(piece_, dtype_, wire_);
    check_mpi(mpi().iallreduce(MPI_IN_PLACE, wire_.data(), static_cast<int>(piece_.size()), MPI_UINT16_T, sum_, comm_,
                               &request_),
              "MPI_Iallreduce");
  }

  MPI_Comm comm_;
  MPI_Op sum_;
  std::span<float> rest_;
  FloatType dtype_;
  float scale_;
  std::span<float> piece_;
  std::vector<std::byte> wire_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

struct HalfSums::Operations {
  MPI_Op half = make_operation(add_halves<Half>);
  MPI_Op bfloat16 = make_operation(add_halves<BFloat16>);
};

HalfSums::HalfSums() : operations_(std::make_unique<Operations>()) {}
HalfSums::~HalfSums() = default;

void HalfSums::free() {
  mpi().op_free(&operations_->half);
  mpi().op_free(&operations_->bfloat16);
}

Poll HalfSums::average(const void* mpi_comm, std::span<float> values, FloatType dtype, int ranks) const {
  const auto state = std::make_shared<HalfAverage>(*static_cast<const MPI_Comm*>(mpi_comm),
                                                   dtype == FloatType::fp16 ? operations_->half : operations_->bfloat16,
                                                   values, dtype, 1.0f / static_cast<float>(ranks));
  return [state] { return (*state)(); };
}

}  // namespace chexbench::comm
