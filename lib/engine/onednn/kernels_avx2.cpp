#include "engine/onednn/kernel_tables.hpp"

namespace chexbench::engine::onednn {

const KernelTables kAvx2Kernels = all_tables();

}  // namespace chexbench::engine::onednn
