// Conditions under which a key applies, for the rules in keys.cpp. Each function adds a condition to the rule; its name
// describes the trials in which it holds.
#pragma once

#include "spec/keys.hpp"

namespace chexbench::spec {

// In other trials these keys may be stated but not swept.
KeyRule input_only(KeyRule rule);
KeyRule engine_only(KeyRule rule);
KeyRule trained_only(KeyRule rule);
KeyRule emulated_only(KeyRule rule);
KeyRule scaled_only(KeyRule rule);
KeyRule buckets_only(KeyRule rule);
KeyRule gpu_only(KeyRule rule);

// Stating these keys is an error if they apply to none of the trials; so is sweeping them in other trials.
KeyRule sgd_only(KeyRule rule);
KeyRule cuda_only(KeyRule rule);
KeyRule epochs_only(KeyRule rule);
KeyRule steps_only(KeyRule rule);
KeyRule plateau_only(KeyRule rule);
KeyRule alpha_beta_only(KeyRule rule);
KeyRule links_only(KeyRule rule);
KeyRule scheme_only(UpdateScheme scheme, const char* in_words, KeyRule rule);
KeyRule distant_only(KeyRule rule);
KeyRule mapped_only(KeyRule rule);
KeyRule own_table_only(KeyRule rule);
KeyRule labelled_table_only(KeyRule rule);
KeyRule joined_labels_only(KeyRule rule);
KeyRule numbered_classes_only(KeyRule rule);
KeyRule fast_decoder_only(KeyRule rule);
KeyRule s3_only(KeyRule rule);
KeyRule web_only(KeyRule rule);
KeyRule second_job_only(KeyRule rule);
KeyRule second_training_only(KeyRule rule);
KeyRule second_reader_only(KeyRule rule);

}  // namespace chexbench::spec
