// Stands in for the kernels of x86 on other architectures, where supported() lets nobody choose them.
#include "image/png/png_wavefront.hpp"
#include "image/preprocess_rows.hpp"

namespace chexbench::image {

const WavefrontKernel kAvx2Wavefront{}, kAvx512Wavefront{};
const RowKernels kAvx2Rows{}, kAvx512Rows{};

}  // namespace chexbench::image
