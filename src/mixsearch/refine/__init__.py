"""A component found by moments -> the same one, sharper."""

from mixsearch.refine.gaussian import RefinedGaussian, learn_spheres, refine_gaussian, refined_gaussian_errors
from mixsearch.refine.lda import LdaTopic, refine_topic
from mixsearch.refine.steps import Steps, steps_of
from mixsearch.refine.topics import Seeds, SharpTopic, sharpen_topic

__all__ = [
    "LdaTopic",
    "RefinedGaussian",
    "Seeds",
    "SharpTopic",
    "Steps",
    "learn_spheres",
    "refine_gaussian",
    "refine_topic",
    "refined_gaussian_errors",
    "sharpen_topic",
    "steps_of",
]
