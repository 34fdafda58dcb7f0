#include "engine/onednn/kernel_tables.hpp"

namespace chexbench::engine {

const KernelTables kAvx512Kernels = all_tables();

}  // namespace chexbench::engine
