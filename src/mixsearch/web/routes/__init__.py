"""The routes of the API: topics, overviews, uploads, tables, images, and the server itself."""
