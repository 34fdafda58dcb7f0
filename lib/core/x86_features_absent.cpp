#include "core/cpu_features.hpp"

namespace chexbench {

X86Features x86_features() { return {}; }

}  // namespace chexbench
