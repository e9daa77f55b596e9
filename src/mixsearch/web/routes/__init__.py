"""The routes of the server: pages, topics, comparisons and maps, images, and the server itself."""
