"""Finds a network's tensors in a dictionary, under torchvision's current names."""

import re

from .torch_file import Tensor, Unreadable

INSIDE = ("state_dict", "model_state_dict", "model")  # where trainings keep the weights in a checkpoint
# DenseNet's names until torchvision 0.2, still in its published weights: "norm.1" for "norm1".
OLD_DENSE = re.compile(r"(denselayer\d+\.(?:norm|relu|conv))\.([12]\.(?:weight|bias|running_mean|running_var))$")
# Left out: counters that no forward pass reads, and GoogLeNet's auxiliary heads, which chexbench does not have.
LEFT_OUT = re.compile(r"(?:^|\.)num_batches_tracked$")
AUXILIARY = re.compile(r"^aux[12]\.")


def state_of(found, kind):
    """The dictionary of tensors (of the class `kind`) among a file's contents."""
    for key in INSIDE:
        if isinstance(found, dict) and isinstance(found.get(key), dict):
            found = found[key]
            break
    tensors = {} if not isinstance(found, dict) else {
        name: value for name, value in found.items() if isinstance(name, str) and isinstance(value, kind)}
    if not tensors:
        raise Unreadable("it has no dictionary of tensors, which is what model.state_dict() gives")
    return tensors


def without_prefix(tensors, first):
    """The names without the prefixes of wrappers ("module.densenet121."), found by the network's first tensor."""
    owners = [name for name in tensors if name == first or name.endswith(f".{first}")]
    if not owners:
        raise Unreadable(f"it has no tensor '{first}', with which the network begins: it is of another network")
    prefix = min(owners, key=len)[:-len(first)]
    return {name[len(prefix):]: tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def with_plain_head(tensors, head):
    """The last layer under its own name, if the file has it inside a sequence ("classifier.0")."""
    nested = [name[:-len(".weight")] for name in tensors if re.fullmatch(rf"{re.escape(head)}\.\d+\.weight", name)]
    if f"{head}.weight" in tensors or len(nested) != 1:
        return tensors
    return {head + name[len(nested[0]):] if name.startswith(nested[0] + ".") else name: tensor
            for name, tensor in tensors.items()}


def check_shapes(tensors, shapes, head):
    for name, shape in shapes.items():
        if name not in tensors:
            raise Unreadable(f"it has no tensor '{name}': it is of another network, or cut off")
        found = list(tensors[name].shape)
        # The head may have any number of outputs, but must have the same inputs.
        if found[name.startswith(f"{head}."):] != shape[name.startswith(f"{head}."):]:
            raise Unreadable(f"tensor '{name}' has shape {found}, and the network needs {shape}: it is of another one")
    unknown = sorted(set(tensors) - set(shapes))
    if unknown:
        raise Unreadable(f"it has {len(unknown)} tensors that the network lacks, such as '{unknown[0]}': it is of "
                         "another network")


def tensors_of(found, shapes, kind=Tensor):
    """The tensors of a network by torchvision's names, and its head's. `shapes`: of all its tensors, in their order."""
    names = list(shapes)
    head = next(name for name in reversed(names) if name.endswith(".weight"))[:-len(".weight")]
    tensors = without_prefix(state_of(found, kind), names[0])
    tensors = {OLD_DENSE.sub(r"\1\2", name): tensor for name, tensor in tensors.items()
               if not LEFT_OUT.search(name) and not AUXILIARY.search(name)}
    tensors = with_plain_head(tensors, head)
    check_shapes(tensors, shapes, head)
    return {name: tensors[name] for name in names}, head
