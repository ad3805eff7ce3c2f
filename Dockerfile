# One image for the API, the workers and the migration; the command says which. For amd64 and arm64:
#   docker buildx build --platform linux/amd64,linux/arm64 .
# Nothing is run on the platform that is built for, so that it needs no emulation.

# Pinned by digest where it is given so: see docs/operations.md, "Pinning images".
ARG NODE_IMAGE=node:24-slim

FROM --platform=$BUILDPLATFORM $NODE_IMAGE AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --workspaces=false
COPY src ./src
# Bundled here because the bundler's native parts are not in the image; workers then start immediately.
RUN node src/workflows/bundle.ts
COPY scripts/build-console.ts ./scripts/
COPY console ./console
# Names and values of the API's enums.
COPY clients/typescript/src/generated ./clients/typescript/src/generated
# The language of the console: see docs/translating.md.
ARG CONSOLE_LOCALE=en
RUN node scripts/build-console.ts

FROM --platform=$BUILDPLATFORM $NODE_IMAGE AS certificates
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates

FROM --platform=$BUILDPLATFORM $NODE_IMAGE AS dependencies
ARG TARGETARCH
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The optional packages are PostgreSQL and Node.js for machines without containers.
RUN npm ci --omit=dev --omit=optional --workspaces=false
COPY scripts/prune-image.mjs ./scripts/
RUN node scripts/prune-image.mjs . $TARGETARCH

FROM $NODE_IMAGE
# Temporal's client checks certificates against the system's list.
COPY --from=certificates /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
WORKDIR /app
ARG CONSOLE_LOCALE=en
ENV NODE_ENV=production HOST=0.0.0.0 CONSOLE_LOCALE=$CONSOLE_LOCALE
COPY package.json ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/.cache ./.cache
COPY src ./src
# The guides, which the service and its MCP server serve.
COPY README.md CHANGELOG.md ./
COPY docs ./docs
USER node
EXPOSE 3000 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=5 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "src/api/server.ts"]
