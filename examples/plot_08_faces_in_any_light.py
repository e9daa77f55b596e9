"""
One face in any light
=====================

All pictures of a matte surface under distant lights lie near a subspace of three dimensions, one for each direction of
the light. From two pictures of a surface, which others in a pile show the same one? The surfaces here are rendered.
"""

import numpy as np
from matplotlib.figure import Figure
from scipy.ndimage import gaussian_filter

from mixsearch import SubspaceSearch

SIZE, N_SURFACES, N_PICTURES = 20, 5, 4_000
rng = np.random.default_rng(0)


def make_surface():
    """Return the reflected light of each pixel for a unit light along x, y and z."""
    height = 6 * gaussian_filter(rng.standard_normal((SIZE, SIZE)), 2.5) * SIZE
    slopes = np.gradient(height)
    normals = np.stack([-slopes[0], -slopes[1], np.ones((SIZE, SIZE))])
    return (normals / np.linalg.norm(normals, axis=0)).reshape(3, -1)


surfaces = np.stack([make_surface() for _ in range(N_SURFACES)])
which = rng.integers(N_SURFACES, size=N_PICTURES)
lights = rng.standard_normal((N_PICTURES, 3))
pictures = np.einsum("nl,nlp->np", lights, surfaces[which]) + 0.05 * rng.standard_normal((N_PICTURES, SIZE**2))

# %%
# Fit the pile, then show two pictures of one surface.

search = SubspaceSearch(n_components=N_SURFACES, dim=3).fit(pictures)
known = np.flatnonzero(which == 2)[:2]
found = search.search(examples=pictures[known], refine=True)
membership = found.membership(pictures)
print(f"{np.mean((membership > 0.5) == (which == 2)):.1%} of the pictures are assigned correctly")

# %%
# Above: the two pictures. Below: others that show the same surface, under other lights.

others = [row for row in np.argsort(-membership) if row not in known][:6]
figure = Figure(figsize=(7, 2.8), layout="constrained")
panels = figure.subplots(2, 6)
for axes in panels.flat:
    axes.set_axis_off()
for axes, row in zip([*panels[0, :2], *panels[1]], [*known, *others], strict=True):
    axes.imshow(pictures[row].reshape(SIZE, SIZE), cmap="gray")
figure
