#include "engine/onednn/kernel_tables.hpp"

namespace chexbench::engine::onednn {

const KernelTables kBaselineKernels = all_tables();

}  // namespace chexbench::engine::onednn
