// Stands in for the x86 kernels on other architectures, where supported() never lets them be chosen.
#include "image/png/png_unfilter.hpp"
#include "image/preprocess_rows.hpp"

namespace chexbench::image {

const WavefrontKernel kAvx2Wavefront{}, kAvx512Wavefront{};
const RowKernels kAvx2Rows{}, kAvx512Rows{};

}  // namespace chexbench::image
