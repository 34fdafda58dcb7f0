// A libnvidia-ml without a GPU. The answers of each function are in a script, the text file that the environment
// variable CHEXBENCH_NVML_STANDIN names; nvmlInit_v2 reads it. A line is a key and its values, in nvml.h's units:
//   power 250000 300000 !15
// The first call about `power` answers with the first value, and so on; the last value is repeated. !15 is a failure
// with that NVML status (15: the GPU is lost). Keys that the script leaves out describe a healthy GPU.
#pragma once

#include <nvml.h>

namespace standin {

struct Answer {
  nvmlReturn_t status;
  unsigned long long value;
};

// Returns the script's answer to this call about `key`, or NVML_ERROR_UNINITIALIZED between shutdown and init.
Answer next(const char* key);

// Returns the value at `place`, however many calls there were, for keys that list one value per GPU.
Answer at(const char* key, unsigned place);

// Returns the GPU index of a handle.
unsigned index_of(nvmlDevice_t device);

template <class Value>
nvmlReturn_t write(const char* key, Value* value) {
  const Answer answer = next(key);
  if (answer.status == NVML_SUCCESS) *value = static_cast<Value>(answer.value);
  return answer.status;
}

}  // namespace standin
