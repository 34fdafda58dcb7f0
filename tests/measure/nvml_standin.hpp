// A libnvidia-ml without a GPU: what each function answers is told by a script, the text file that the environment's
// CHEXBENCH_NVML_STANDIN names, read at nvmlInit_v2. A line is a key and its values, in nvml.h's units:
//   power 250000 300000 !15
// The first call about `power` answers with the first value, and so on; the last value stays. !15 is a failure with
// that NVML status (15: the GPU is lost). Keys that the script leaves out describe a healthy GPU.
#pragma once

#include <nvml.h>

namespace standin {

struct Answer {
  nvmlReturn_t status;
  unsigned long long value;
};

// What the script has for this call about `key`; NVML_ERROR_UNINITIALIZED between shutdown and init.
Answer next(const char* key);

// Its value at `place`, whichever call this is: for keys that list one value a GPU.
Answer at(const char* key, unsigned place);

// Which GPU a handle stands for.
unsigned index_of(nvmlDevice_t device);

template <class Value>
nvmlReturn_t write(const char* key, Value* value) {
  const Answer answer = next(key);
  if (answer.status == NVML_SUCCESS) *value = static_cast<Value>(answer.value);
  return answer.status;
}

}  // namespace standin
