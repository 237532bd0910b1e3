"""The model: the result of training as data, what is derived from it, and checks of its consistency."""

from impls.core.model.data import HuggingFaceRules
from impls.core.model.model import Model

__all__ = ["HuggingFaceRules", "Model"]
