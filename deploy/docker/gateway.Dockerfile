# A gateway: the agent, and the tools of the tunnel. gateway.compose.yaml says how it runs.
FROM node:26-trixie-slim AS build
WORKDIR /build
COPY . .
# `npmrc` is for those who reach npm by a way of their own; it stays in no layer.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc \
    npm ci --no-audit --no-fund --loglevel=error
RUN node_modules/.bin/node apps/agent/build.ts

FROM debian:trixie-slim
# Docker gives a process that is not root no rights. `with-net-admin` is a setpriv that may hand on NET_ADMIN, and only to
# the agent's own user: 0044.
RUN groupadd --system --gid 7401 postern \
    && useradd --system --uid 7401 --gid postern --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin postern \
    && apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        iproute2 libatomic1 libcap2-bin nftables tini wireguard-go wireguard-tools \
    && install -o root -g postern -m 0750 /usr/bin/setpriv /usr/local/bin/with-net-admin \
    && setcap cap_net_admin=ep /usr/local/bin/with-net-admin \
    && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log /var/cache/ldconfig \
    && find / -xdev -perm /6000 -type f -exec chmod a-s {} + \
    && install -d -o postern -g postern -m 0700 /var/lib/postern-agent
COPY --from=build /build/LICENSE /opt/postern/
COPY --from=build /build/node_modules/node-linux-*/bin/node /usr/local/bin/
COPY --from=build /build/apps/agent/dist/postern.mjs /opt/postern/postern.mjs
COPY --chmod=0755 deploy/docker/postern.sh /usr/local/bin/postern
# Who comes from another product may keep the commands of its health check.
RUN ln -s postern /usr/local/bin/wiredoor
# A directory of its own, because a volume may belong to root.
ENV POSTERN_AGENT_DIR=/var/lib/postern-agent/node
# It is a gateway, into the private networks that the console names: 0053.
ENV POSTERN_GATEWAY=private
USER postern
VOLUME /var/lib/postern-agent
HEALTHCHECK --interval=30s --timeout=15s --start-period=60s --retries=3 CMD ["postern", "status", "--health"]
ENTRYPOINT ["tini", "--", "postern"]
CMD ["run"]
