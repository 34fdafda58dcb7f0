#include "core/x86_features.hpp"

namespace chexbench {

X86Features x86_features() { return {}; }

}  // namespace chexbench
