// Lets one function be compiled for the device and, by a compiler that knows no CUDA, for the tests on the host. The
// only conditional compilation of the project: nothing but a function's own head can say where it runs.
#pragma once

#include <cmath>

#if defined(__CUDACC__) || defined(__CUDA__)
#define CHEXBENCH_HOST_DEVICE __host__ __device__
#else
#define CHEXBENCH_HOST_DEVICE
inline float rsqrtf(float value) { return 1.0f / sqrtf(value); }  // CUDA has it, C++ has not
#endif
