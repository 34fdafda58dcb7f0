#include "analysis/published_aurocs.hpp"

#include <algorithm>

namespace chexbench::analysis {
namespace {

constexpr std::array<std::string_view, kNihLabels> kFindings = {
    "Atelectasis", "Cardiomegaly", "Effusion",           "Infiltration",  "Mass",
    "Nodule",      "Pneumonia",    "Pneumothorax",       "Consolidation", "Edema",
    "Emphysema",   "Fibrosis",     "Pleural_Thickening", "Hernia"};

constexpr PublishedAurocs kPublished[] = {
    {.name = "CheXNet",
     .source = "Rajpurkar et al., arXiv:1711.05225",
     .images = "a random fifth of the patients",
     .mean = 0.841,
     .of = {0.8094, 0.9248, 0.8638, 0.7345, 0.8676, 0.7802, 0.7680, 0.8887, 0.7901, 0.8878, 0.9371, 0.8047, 0.8062,
            0.9164}},
    {.name = "zoogzog",
     .source = "zoogzog/chexnet, README.md, model m-25012018-123527, ten crops",
     .images = "a random fifth of the patients, that of arnoweng/CheXNet",
     .mean = 0.8508,
     .of = {0.8321, 0.9107, 0.8860, 0.7145, 0.8653, 0.8037, 0.7655, 0.8857, 0.8157, 0.9017, 0.9422, 0.8523, 0.7948,
            0.9416}},
};

}  // namespace

std::span<const PublishedAurocs> published_aurocs() { return kPublished; }

bool has_published_aurocs(const std::vector<std::string>& labels) { return std::ranges::equal(labels, kFindings); }

}  // namespace chexbench::analysis
