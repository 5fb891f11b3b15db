# The production image: the wheel and what requirements.runtime.lock names, run by a user without rights. The embedded
# stack stays out. `docker build -t abacus .`, then `docker run abacus worker calculator`. BASE may name an image by its
# digest: docs/operate/deploy.md says how.

ARG BASE=python:3.13-slim

FROM ${BASE} AS build
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy
WORKDIR /src
COPY .ci/uv .ci/
RUN .ci/uv --version
COPY requirements.lock requirements.runtime.lock ./
RUN .ci/uv venv --python python3 /opt/abacus \
    && .ci/uv pip sync --python /opt/abacus/bin/python --require-hashes requirements.runtime.lock
COPY pyproject.toml README.md LICENSE ./
COPY abacus abacus
COPY workers workers
COPY alembic alembic
COPY localstack localstack
RUN .ci/uv build --wheel --out-dir dist --build-constraints requirements.lock --require-hashes \
    && .ci/uv pip install --python /opt/abacus/bin/python --no-deps dist/abacus-*.whl

FROM ${BASE}
ENV PATH=/opt/abacus/bin:$PATH PYTHONUNBUFFERED=1 ABACUS_LOG_FORMAT=json
COPY --from=build /opt/abacus /opt/abacus
WORKDIR /tmp
USER 10001:10001
ENTRYPOINT ["abacus"]
CMD ["--help"]
