"""Mathew Salvaris's talk "Distributed Deep Learning": GPUs, networks and precisions on synthetic data, then ResNet50 on
V100s by store, loader and data format.
"""

import time
from dataclasses import dataclass, field

import page
import salvaris_gpus as gpus
import salvaris_network as network
import salvaris_storage as storage
from budget import measure_until
from measuring import say
from planning import left_out
from worlds import made_by

NAME = "salvaris"
TITLE = "Salvaris's talk: Distributed Deep Learning"
NEEDS_DATA = False
TRAINS_FOR_REAL = False  # with --engine cuda or onednn
MEASURES = True


@dataclass
class Evidence:
    """Rows of predicted, measured and published figures."""
    predicted: list  # trainings over all ranks and networks
    precisions: list  # ResNet50 on V100s in full and in mixed precision
    sent: list  # measured over two networks
    stores: list  # measured by store, loader and format
    ratios: dict  # that chexbench found within a store
    published: list
    published_stores: list
    networks: list = field(init=False)  # efficiencies on most GPUs, predicted and published

    def __post_init__(self):
        self.networks = gpus.network_rows(self.predicted, self.published)


def claims(evidence):
    return [network.claim(network.ratios_of(evidence.sent), evidence.networks, evidence.published),
            gpus.small_model_claim(evidence.networks), gpus.mixed_claim(evidence.precisions, evidence.published),
            storage.loaders_claim(evidence.ratios), storage.location_claim(evidence.stores, evidence.published_stores),
            storage.formats_claim(evidence.ratios)]


def figures(folder, evidence, link_rows, images):
    """Writes the CSV of each figure and draws it; yields the blocks of the page."""
    yield from gpus.scaling_blocks(folder, evidence.predicted, evidence.published)
    yield from gpus.precision_blocks(folder, evidence.precisions, evidence.published)
    yield from gpus.step_blocks(folder, evidence.predicted, link_rows)
    yield from gpus.network_blocks(folder, evidence.networks)
    yield from network.blocks(folder, evidence.sent)
    yield from storage.storage_blocks(folder, evidence.stores, evidence.published_stores, images)
    yield from storage.format_blocks(folder, evidence.stores)


def blocks(found, drawn, plan, missing, speeds, made):
    yield made
    yield page.paragraph(
        "Mathew Salvaris trained with tf_cnn_benchmarks and Horovod on up to 32 K80s, P40s, P100s and V100s, four to a "
        "node with InfiniBand, over synthetic data in batches of 64; then ResNet50 on V100s with Keras, PyTorch and "
        "TensorFlow over local disks, NFS and blob storage. The talk's charts have no values. His repository "
        "BatchAIHorovodBenchmark has the charts of ResNet50 as SVGs, and the heights of their bars are drawn as stars; "
        "its MobileNetV2 ran with a wrong layout of data (tensorflow/benchmarks issue 278), so it is left out. Of his "
        "charts of stores and formats no source has values, but for one of NFS.")
    yield page.heading("Claims")
    yield page.table(["claim", "verdict", "evidence"], found)
    yield page.paragraph(f"Rates are called equal within {100 * storage.EQUAL:.0f} %. GPUs and networks are predicted, "
                         "and predictions judge nothing.")
    yield from drawn
    yield page.heading("Speeds of one GPU")
    yield page.paragraph("Figures 1, 2, 4 and 5 are predicted from these. \"Computed\" ones were not measured; "
                         "configs/accelerators says how they were made.")
    yield speeds
    if missing:
        yield page.heading("Not predicted")
        yield page.bullets(missing)
    if left_out(plan):
        yield page.heading("Not measured")
        yield page.paragraph("These did not fit into the budget:")
        yield page.bullets(left_out(plan))


def run(folder, data, budget_minutes, _engine):
    """Predicts, measures and writes the pages; returns their paths and the claims."""
    ends = time.monotonic() + 60 * budget_minutes
    published, published_stores = gpus.published_rows(), storage.published_rows()
    link_rows = gpus.links()
    found, missing = gpus.speeds()
    images = storage.check(data) if data else None
    say(f"{NAME}: predicting {len(found)} trainings")
    predicted, precisions = gpus.predict(found, link_rows), gpus.precision_rows()
    if data is None and (ends - time.monotonic() > storage.MAKE_S or storage.is_made(folder)):
        data = storage.own_data(folder)
    plan, pairs = storage.groups(), network.groups(found)
    storage.forecast(plan, data)
    reports = measure_until(ends, NAME, plan, lambda group: storage.run_of(group, folder, data),
                            lambda group: storage.RANK_BYTES)
    sending = measure_until(ends, NAME, pairs, lambda group: network.run_of(group, folder, found),
                            lambda group: network.RANK_BYTES)
    evidence = Evidence(predicted, precisions, network.rows_of(sending), storage.rows_of(reports),
                        storage.ratios_of(reports), published, published_stores)
    judged = claims(evidence)
    drawn = figures(folder, evidence, link_rows, images)
    environment = next((report["environment"] for _, report in [*reports, *sending]), None)
    files = f"{images:,} given images" if images else f"{storage.IMAGES:,} synthetic X-rays"
    made = made_by(NAME, budget_minutes, ends, f"{files} for the stores, ready-made batches otherwise", environment)
    content = blocks(judged, drawn, [*plan, *pairs], missing, gpus.speed_table(found), made)
    return page.publish(folder, TITLE, content), judged
