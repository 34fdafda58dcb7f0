#include "engine/onednn/kernels.hpp"

namespace chexbench::engine::onednn {

namespace {

const KernelTables& tables(Isa isa) {
  return isa == Isa::avx512 ? kAvx512Kernels : (isa == Isa::avx2 ? kAvx2Kernels : kBaselineKernels);
}

}  // namespace

const UpdateKernels& update_kernels(Isa isa) { return tables(isa).update; }

const Kernels& kernels(Isa isa, FloatType type, int block) {
  return tables(isa).table[type == FloatType::bf16 ? 1 : 0][block == kMaxBlock ? 1 : 0];
}

}  // namespace chexbench::engine::onednn
