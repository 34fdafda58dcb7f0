// cuBLASLt with plain loops, in the layout of BLAS: columns one after another.
#include <cublasLt.h>

#include <vector>

#include "core/half.hpp"
#include "strict_cuda.hpp"

namespace {

struct Layout {
  cudaDataType type = CUDA_R_32F;
  std::size_t rows = 0, columns = 0, ld = 0;
};
struct Description {
  bool transposed[2] = {};
};

Layout& layout(const void* opaque) { return *static_cast<Layout*>(const_cast<void*>(opaque)); }
Description& description(const void* opaque) { return *static_cast<Description*>(const_cast<void*>(opaque)); }

struct Operand {
  const void* data;
  Layout layout;
  bool transposed;

  float at(std::size_t row, std::size_t column) const {
    const std::size_t i = transposed ? row * layout.ld + column : column * layout.ld + row;
    if (layout.type == CUDA_R_16F) return chexbench::to_float(static_cast<const chexbench::Half*>(data)[i]);
    if (layout.type == CUDA_R_16BF) return chexbench::to_float(static_cast<const chexbench::BFloat16*>(data)[i]);
    return static_cast<const float*>(data)[i];
  }
  std::size_t inner() const { return transposed ? layout.rows : layout.columns; }
};

void store(void* data, const Layout& to, std::size_t row, std::size_t column, float value) {
  const std::size_t i = column * to.ld + row;
  if (to.type == CUDA_R_16F) {
    static_cast<chexbench::Half*>(data)[i] = chexbench::to_half(value);
  } else if (to.type == CUDA_R_16BF) {
    static_cast<chexbench::BFloat16*>(data)[i] = chexbench::to_bfloat16(value);
  } else {
    static_cast<float*>(data)[i] = value;
  }
}

void multiply(const Operand& a, const Operand& b, void* c, const Layout& to) {
  for (std::size_t column = 0; column < to.columns; ++column) {
    for (std::size_t row = 0; row < to.rows; ++row) {
      float sum = 0;
      for (std::size_t k = 0; k < a.inner(); ++k) sum += a.at(row, k) * b.at(k, column);
      store(c, to, row, column, sum);
    }
  }
}

}  // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new int);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<int*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasLtGetStatusString(cublasStatus_t) { return "the stand-in refuses it"; }
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, columns, static_cast<std::size_t>(ld)});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
  delete &layout(made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t, cudaDataType_t) {
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(new Description);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  delete &description(made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t made, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t) {
  const bool transposed = *static_cast<const cublasOperation_t*>(value) == CUBLAS_OP_T;
  description(made).transposed[attribute == CUBLASLT_MATMUL_DESC_TRANSA ? 0 : 1] = transposed;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t[],
                                              int* found) {
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t of, const void*, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void*, const void*, cublasLtMatrixLayout_t, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t*, void* workspace,
                              std::size_t, cudaStream_t stream) {
  if (workspace == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const Operand left{a, layout(a_layout), description(of).transposed[0]};
  const Operand right{b, layout(b_layout), description(of).transposed[1]};
  const Layout to = layout(d_layout);
  return strict::enqueue(stream, [=] { multiply(left, right, d, to); }) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                                       : CUBLAS_STATUS_EXECUTION_FAILED;
}
