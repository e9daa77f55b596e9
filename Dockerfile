# The page and its HTTP API, for the indexes in /data:
#   docker build -t mixsearch . && docker run -p 8000:8000 -v "$PWD/indexes:/data:ro" mixsearch
FROM node:22-slim AS page
COPY . /source
WORKDIR /source
RUN npm ci --silent && npm run --silent build

FROM python:3.13-slim AS build
COPY --from=page /source /source
RUN python -m venv /app \
 && /app/bin/pip install --no-cache-dir --disable-pip-version-check '/source[web]'

FROM python:3.13-slim
COPY --from=build /app /app
RUN useradd --create-home --uid 10001 mixsearch
USER mixsearch
WORKDIR /data
EXPOSE 8000
HEALTHCHECK --interval=30s CMD ["/app/bin/python", "-c", "import socket; socket.create_connection(('127.0.0.1', 8000), 5)"]
# The shell finds the indexes; exec lets the server get the signal of `docker stop`.
CMD ["sh", "-c", "exec /app/bin/mixsearch serve /data/*.index --host 0.0.0.0 --port 8000 --no-open"]
