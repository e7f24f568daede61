# The coordinator in a container: docs/deploy.md says what it finds in /data. Its pki/ is a copy of
# pki/coordinator from the machine where `kindred pki` runs.
# Built from the repository's root: docker build -f deploy/coordinator.Dockerfile -t kindred-coordinator .
FROM debian:bookworm-slim AS build
RUN apt-get update -q && apt-get install -q -y --no-install-recommends make ca-certificates
WORKDIR /src
# What the program is made of, and nothing else of this folder: no data, no runs, no keys.
COPY Makefile CMakeLists.txt CMakePresets.json ./
COPY cmake cmake
COPY tools tools
COPY tests tests
COPY bench bench
COPY configs configs
COPY web web
COPY src src
# MPI is for clusters; a federation does without it.
RUN make build WITH_MPI=OFF

FROM debian:bookworm-slim
RUN apt-get update -q && apt-get install -q -y --no-install-recommends \
      libabsl20220623 libarchive13 libcairo2 libcurl4 libfmt9 libgomp1 libgrpc++1.51 libmicrohttpd12 libonnx1 \
      libopenblas0-pthread libpng16-16 libprotobuf32 libsodium23 libspdlog1.10 libssl3 \
      libtomlplusplus3 libtorch1.13 libturbojpeg0 libxxhash0 zlib1g \
    && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 10001 kindred \
    && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home \
         --shell /usr/sbin/nologin kindred \
    && install -d -m 700 -o kindred -g kindred /data
COPY --from=build /src/build/release/kindred /usr/local/bin/kindred
COPY --from=build /src/build/release/libkindred_learn.so /usr/local/lib/kindred/libkindred_learn.so
USER kindred
WORKDIR /data
VOLUME /data
ENV XDG_CACHE_HOME=/data/.cache
EXPOSE 7433
ENTRYPOINT ["kindred", "serve", "--resume", "--listen", "0.0.0.0:7433", "--pki", "pki", "--out", "served"]
CMD ["--config", "federation.toml"]
