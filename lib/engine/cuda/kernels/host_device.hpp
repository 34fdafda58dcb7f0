// Lets one function be compiled for the device and, by a compiler without CUDA, for the tests on the host. Conditional
// compilation is only here and in launch.cuh, because only a function's own declaration can say where it runs.
#pragma once

#include <cmath>

#if defined(__CUDACC__) || defined(__CUDA__)
#define CHEXBENCH_HOST_DEVICE __host__ __device__
#else
#define CHEXBENCH_HOST_DEVICE
inline float rsqrtf(float value) { return 1.0f / sqrtf(value); }  // Exists in CUDA but not in C++.
#endif
