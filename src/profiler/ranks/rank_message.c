/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_message.h"

#include "os/net/network.h"

bool rank_message_send(int fd, rank_message_kind kind, const void *content, size_t n,
		       uint64_t deadline_ns)
{
	const rank_head head = {kind, (uint32_t)n};

	return os_net_send_all(fd, &head, sizeof head, deadline_ns) &&
	       os_net_send_all(fd, content, n, deadline_ns);
}

bool rank_message_receive(int fd, rank_message_kind kind, void *content, size_t n,
			  uint64_t deadline_ns)
{
	rank_head head;

	return os_net_receive_all(fd, &head, sizeof head, deadline_ns) &&
	       head.kind == (uint32_t)kind && head.bytes == n &&
	       os_net_receive_all(fd, content, n, deadline_ns);
}

uint32_t rank_message_kind_receive(int fd, uint64_t deadline_ns)
{
	rank_head head;

	return os_net_receive_all(fd, &head, sizeof head, deadline_ns) && head.bytes == 0
		   ? head.kind
		   : 0;
}
