// A stand-in for libcuda, libcudart, libcublasLt, libcudnn or libnccl, depending on the name of the copy.
// Each function reports the number in the environment variable of its name, or fails if there is none.
#include <cstddef>
#include <cstdlib>

namespace {

int number_of(const char* symbol) {
  const char* const text = std::getenv(symbol);
  return text != nullptr ? std::atoi(text) : 0;
}

int write(const char* symbol, int* version) {
  *version = number_of(symbol);
  return *version != 0 ? 0 : 34;  // CUDA_ERROR_STUB_LIBRARY
}

}  // namespace

extern "C" {
int cuDriverGetVersion(int* version) { return write("cuDriverGetVersion", version); }
int cudaRuntimeGetVersion(int* version) { return write("cudaRuntimeGetVersion", version); }
int ncclGetVersion(int* version) { return write("ncclGetVersion", version); }
std::size_t cublasLtGetVersion() { return static_cast<std::size_t>(number_of("cublasLtGetVersion")); }
std::size_t cudnnGetVersion() { return static_cast<std::size_t>(number_of("cudnnGetVersion")); }
}
