"""
One community of a network
==========================

You know three people of a group in a network. Who else belongs to it, and how sure is that?
"""

import numpy as np
from matplotlib.figure import Figure

from mixsearch import CommunitySearch
from mixsearch.datasets import make_communities

data = make_communities(2_000, 4, mean_degree=12, signal=3.0, random_state=0)
search = CommunitySearch(n_components="auto").fit(data.adjacency)
print(search.n_components_, "communities can be seen in the links")

# %%
# Three known members are the hint. Every node gets a score and a probability of being a member, and the check
# says where each of the three ranks when it is left out.

known = data.known(2, 3)
found = search.search(examples=known)
members = found.membership > 0.5
print(f"{np.mean(members == (data.labels == 2)):.1%} of the nodes are assigned correctly; {found.check}")

# %%
# The links of the network: the members found come first, then the other nodes, sorted by their true community.

order = np.lexsort((data.labels, ~members))
figure = Figure(figsize=(4, 4), layout="constrained")
axes = figure.subplots()
axes.spy(data.adjacency[order][:, order], markersize=0.3)
axes.axhline(members.sum(), color="tab:orange")
axes.axvline(members.sum(), color="tab:orange")
axes.set(xticks=[], yticks=[], xlabel="members found, then all other nodes")
figure
