"""Building an index: from files to counts on disk, and the fit."""
