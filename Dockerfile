# SPDX-License-Identifier: Apache-2.0
# docker build -t deepclock .    docs/container.md
FROM debian:12-slim AS build
COPY . /src
RUN /src/tools/container.sh build /out

FROM debian:12-slim
COPY --from=build /src/tools/container.sh /tmp/container.sh
RUN /tmp/container.sh run && rm /tmp/container.sh
COPY --from=build /out /
USER deepclock
WORKDIR /home/deepclock
ENTRYPOINT ["deepclock"]
