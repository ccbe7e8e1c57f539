// perfetto.cpp - a range of Perfetto's C++ SDK: TRACE_EVENT, recorded in this process into a ring
// of 64 MiB.
//
// SPDX-License-Identifier: Apache-2.0
#include "pair.h"

#include <memory>
#include <perfetto.h>

PERFETTO_DEFINE_CATEGORIES(perfetto::Category("bench"));
PERFETTO_TRACK_EVENT_STATIC_STORAGE();

static void ranges()
{
	for (int i = 0; i < PAIR_TIMES; i++) {
		TRACE_EVENT_BEGIN("bench", "range");
		TRACE_EVENT_END("bench");
		__asm__ volatile("" : : : "memory");
	}
}

int main(int argc, char **argv)
{
	perfetto::TracingInitArgs args;
	perfetto::TraceConfig config;

	if (argc < 2)
		return 2;
	args.backends = perfetto::kInProcessBackend;
	perfetto::Tracing::Initialize(args);
	perfetto::TrackEvent::Register();
	config.add_buffers()->set_size_kb(64 << 10);
	config.add_data_sources()->mutable_config()->set_name("track_event");
	std::unique_ptr<perfetto::TracingSession> session = perfetto::Tracing::NewTrace();
	session->Setup(config);
	session->StartBlocking();
	const int status = pair_run(ranges, argv[1]);
	session->StopBlocking();
	/* A range takes at least two bytes. */
	if (session->ReadTraceBlocking().size() < 2 * PAIR_TIMES * PAIR_ROUNDS) {
		fprintf(stderr, "Perfetto has not recorded all of it\n");
		return 1;
	}
	return status;
}
