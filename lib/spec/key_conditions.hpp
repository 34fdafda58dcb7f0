// Where a key has a meaning: conditions that keys.cpp puts on its rules.
#pragma once

#include "spec/keys.hpp"

namespace chexbench::spec {

// Each returns the rule with its condition. Sweeping such a key elsewhere is an error, stating it is none.
KeyRule input_only(KeyRule rule);
KeyRule engine_only(KeyRule rule);
KeyRule trained_only(KeyRule rule);
KeyRule buckets_only(KeyRule rule);
KeyRule gpu_only(KeyRule rule);

// Stating these where they have no meaning is an error, too.
KeyRule sgd_only(KeyRule rule);
KeyRule cuda_only(KeyRule rule);
KeyRule epochs_only(KeyRule rule);
KeyRule steps_only(KeyRule rule);
KeyRule plateau_only(KeyRule rule);
KeyRule alpha_beta_only(KeyRule rule);
KeyRule links_only(KeyRule rule);
KeyRule scheme_only(UpdateScheme scheme, const char* in_words, KeyRule rule);
KeyRule distant_only(KeyRule rule);
KeyRule own_table_only(KeyRule rule);
KeyRule joined_labels_only(KeyRule rule);
KeyRule fast_decoder_only(KeyRule rule);
KeyRule s3_only(KeyRule rule);

}  // namespace chexbench::spec
