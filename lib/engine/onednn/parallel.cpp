#include "engine/onednn/parallel.hpp"

#include <omp.h>

namespace chexbench::engine::onednn {

int parallel_threads() { return omp_get_max_threads(); }

void set_parallel_threads(int threads) { omp_set_num_threads(threads); }

}  // namespace chexbench::engine::onednn
