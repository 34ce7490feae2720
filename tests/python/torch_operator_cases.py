"""The families of operators that are tested against torch."""

from torch_case_generator import Family
from torch_complex_cases import complex_numbers, spectrograms, transforms
from torch_indexing_cases import bags, indexing, scalars, scattering, sorting
from torch_loss_cases import class_losses, losses
from torch_movement_cases import movement
from torch_pointwise_cases import activations, binary, unary
from torch_rearranging_cases import composites, resizing, windows, writes
from torch_recurrent_cases import RECURRENT_FAMILIES
from torch_reduction_cases import norms, reductions, scans
from torch_sampling_cases import memory_windows, sampling, unpooling
from torch_vocabulary_cases import vocabulary
from torch_window_cases import pooling, transposed_convolutions

FAMILIES: dict[str, Family] = {
    "unary": unary,
    "activations": activations,
    "binary": binary,
    "reductions": reductions,
    "scans": scans,
    "norms": norms,
    "losses": losses,
    "class_losses": class_losses,
    "pooling": pooling,
    "transposed_convolutions": transposed_convolutions,
    "movement": movement,
    **RECURRENT_FAMILIES,
    "sorting": sorting,
    "indexing": indexing,
    "scattering": scattering,
    "bags": bags,
    "scalars": scalars,
    "resizing": resizing,
    "windows": windows,
    "writes": writes,
    "composites": composites,
    "vocabulary": vocabulary,
    "complex_numbers": complex_numbers,
    "transforms": transforms,
    "spectrograms": spectrograms,
    "sampling": sampling,
    "unpooling": unpooling,
    "memory_windows": memory_windows,
}
