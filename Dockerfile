# The command `roost`, with its inspector and the import of SQLite tables:
#
#     docker build -t roost .
#     docker run --rm -v "$PWD/data:/data" roost stat /data
FROM swift:6.2-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends liblz4-dev libsqlite3-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
RUN swift build -c release --traits Inspector,SQLite --static-swift-stdlib --product roost \
    && cp "$(swift build -c release --traits Inspector,SQLite --static-swift-stdlib --show-bin-path)/roost" /roost

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends liblz4-1 libsqlite3-0 && rm -rf /var/lib/apt/lists/*
COPY --from=build /roost /usr/local/bin/roost
# A workspace has mode 0700, so it is run as who owns it: docker run --user.
ENTRYPOINT ["roost"]
