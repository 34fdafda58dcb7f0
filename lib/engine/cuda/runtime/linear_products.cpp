#include "engine/cuda/runtime/linear_products.hpp"

#include <cublasLt.h>
#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <stdexcept>
#include <string>

#include "core/errors.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr std::uint32_t kAlignmentBytes = 16;                  // the arena's guarantee for every tensor
constexpr std::size_t kWorkspaceBytes = std::size_t{4} << 20;  // cuBLAS's own default on older devices

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw DeviceError(fmt::format("cuBLASLt: {} failed: {}", what, cublasLtGetStatusString(status)));
}

cudaDataType_t storage(spec::Precision precision) {
  if (precision == spec::Precision::fp16) return CUDA_R_16F;
  return precision == spec::Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

// Strict f32 does not use tensor cores, which would round to tf32.
cublasComputeType_t compute(spec::Precision precision) {
  return precision == spec::Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

// A matrix in BLAS's layout, with columns one after another. Our rows are its columns, so every matrix is the transpose
// of our matrix. cuBLASLt also has row-major layouts, but they are seldom used; this way is the common one.
struct Matrix {
  int rows = 0, columns = 0;
};

// Owns cuBLASLt's description of a matrix.
class Layout {
 public:
  Layout(const Matrix& matrix, cudaDataType_t type) {
    check(cublasLtMatrixLayoutCreate(&layout_, type, static_cast<std::uint64_t>(matrix.rows),
                                     static_cast<std::uint64_t>(matrix.columns), matrix.rows),
          "a layout");
  }
  ~Layout() { cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

// c = op(a) op(b), with the algorithm that cuBLASLt's heuristics put first.
class Product {
 public:
  struct Operands {
    Matrix a, b, c;
    bool transpose_a = false, transpose_b = false;
  };
  Product(cublasLtHandle_t handle, const Operands& operands, spec::Precision precision)
      : handle_(handle),
        a_(operands.a, storage(precision)),
        b_(operands.b, storage(precision)),
        c_(operands.c, storage(precision)) {
    check(cublasLtMatmulDescCreate(&operation_, compute(precision), CUDA_R_32F), "a product's description");
    transpose(CUBLASLT_MATMUL_DESC_TRANSA, operands.transpose_a);
    transpose(CUBLASLT_MATMUL_DESC_TRANSB, operands.transpose_b);
    choose();
  }
  ~Product() { cublasLtMatmulDescDestroy(operation_); }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  void run(const void* a, const void* b, void* c, void* workspace, Stream stream) const {
    constexpr float kOne = 1, kZero = 0;
    check(cublasLtMatmul(handle_, operation_, &kOne, a, a_.get(), b, b_.get(), &kZero, c, c_.get(), c, c_.get(),
                         &chosen_.algo, workspace, kWorkspaceBytes, stream),
          "a linear layer");
  }

 private:
  void transpose(cublasLtMatmulDescAttributes_t attribute, bool transposed) {
    const cublasOperation_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(cublasLtMatmulDescSetAttribute(operation_, attribute, &operation, sizeof operation),
          "a product's description");
  }

  void choose() {
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "a preference");
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspaceBytes,
                                         sizeof kWorkspaceBytes);
    for (const auto operand : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      cublasLtMatmulPreferenceSetAttribute(preference, operand, &kAlignmentBytes, sizeof kAlignmentBytes);
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle_, operation_, a_.get(), b_.get(), c_.get(),
                                                                 c_.get(), preference, 1, &chosen_, &found);
    cublasLtMatmulPreferenceDestroy(preference);
    check(status, "the choice of an algorithm");
    if (found == 0) throw DeviceError("cuBLASLt: it offers no algorithm for a linear layer");
  }

  cublasLtHandle_t handle_;
  const Layout a_, b_, c_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatmulHeuristicResult_t chosen_{};
};

// Owns a handle of cuBLASLt.
class Handle {
 public:
  Handle() { check(cublasLtCreate(&handle_), "its start"); }
  ~Handle() { cublasLtDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  cublasLtHandle_t get() const { return handle_; }

 private:
  cublasLtHandle_t handle_ = nullptr;
};

}  // namespace

struct LinearProducts::Impl {
  struct Products {
    const LinearShape shape;
    const Product forward, data_gradient, weight_gradient;

    Products(cublasLtHandle_t handle, const LinearShape& of, spec::Precision precision)
        : Products(handle, of, {of.inputs, of.images}, {of.inputs, of.outputs}, {of.outputs, of.images}, precision) {}

   private:
    Products(cublasLtHandle_t handle, const LinearShape& of, const Matrix& x, const Matrix& w, const Matrix& y,
             spec::Precision precision)
        : shape(of),
          forward(handle, {.a = w, .b = x, .c = y, .transpose_a = true}, precision),
          data_gradient(handle, {.a = w, .b = y, .c = x}, precision),
          weight_gradient(handle, {.a = x, .b = y, .c = w, .transpose_b = true}, precision) {}
  };

  Handle handle;
  std::list<Products> layers;  // a list, because they can neither be moved nor copied

  Impl(const std::vector<LinearShape>& shapes, spec::Precision precision) {
    for (const LinearShape& shape : shapes) layers.emplace_back(handle.get(), shape, precision);
  }
  // @throws std::logic_error for an unknown shape
  const Products& of(const LinearShape& shape) const {
    const auto found = std::ranges::find(layers, shape, &Products::shape);
    if (found == layers.end()) throw std::logic_error("linear layers: nothing was planned for this one");
    return *found;
  }
};

LinearProducts::LinearProducts(const std::vector<LinearShape>& shapes, spec::Precision precision)
    : impl_(std::make_unique<Impl>(shapes, precision)) {}

LinearProducts::~LinearProducts() = default;

std::size_t LinearProducts::workspace_bytes() const { return kWorkspaceBytes; }

void LinearProducts::forward(const LinearShape& shape, const void* x, const void* w, void* y, Stream stream) {
  impl_->of(shape).forward.run(w, x, y, workspace_, stream);
}

void LinearProducts::data_gradient(const LinearShape& shape, const void* dy, const void* w, void* dx, Stream stream) {
  impl_->of(shape).data_gradient.run(w, dy, dx, workspace_, stream);
}

void LinearProducts::weight_gradient(const LinearShape& shape, const void* x, const void* dy, void* dw, Stream stream) {
  impl_->of(shape).weight_gradient.run(x, dy, dw, workspace_, stream);
}

}  // namespace chexbench::engine::cuda
