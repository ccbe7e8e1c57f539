/* perfetto.h - protobuf field numbers of a Perfetto trace, for its writer and its reader. A file is
 * a sequence of self-contained packets, so that it may be truncated after any of them. Source:
 * https://perfetto.dev/docs/reference/trace-packet-proto
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_PERFETTO_H
#define TIMELINE_PERFETTO_H

enum { PF_TRACE_PACKET = 1 };

enum { /* TracePacket */
       PF_PACKET_CLOCK_SNAPSHOT = 6,
       PF_PACKET_TIMESTAMP = 8,
       PF_PACKET_SEQUENCE = 10, /* trusted_packet_sequence_id */
       PF_PACKET_TRACK_EVENT = 11,
       PF_PACKET_INTERNED = 12,
       PF_PACKET_FLAGS = 13,   /* sequence_flags */
       PF_PACKET_CLEARED = 41, /* incremental_state_cleared, of old producers: PF_FLAG_CLEARED */
       PF_PACKET_DROPPED = 42, /* previous_packet_dropped; also on the first of a sequence */
       PF_PACKET_THREAD = 44,  /* thread_descriptor, of old producers */
       PF_PACKET_COMPRESSED = 50,
       PF_PACKET_CLOCK = 58, /* timestamp_clock_id */
       PF_PACKET_DEFAULTS = 59,
       PF_PACKET_TRACK = 60, /* track_descriptor */
       PF_PACKET_SAMPLE = 66 /* perf_sample */
};
/* sequence_flags: the state of the sequence is cleared; the packet needs the state since then. */
enum { PF_FLAG_CLEARED = 1, PF_FLAG_NEEDED = 2 };

enum { /* TracePacketDefaults */
       PF_DEFAULTS_TRACK_EVENT = 11,
       PF_DEFAULTS_SAMPLE = 12, /* perf_sample_defaults */
       PF_DEFAULTS_CLOCK = 58
};

enum { /* ClockSnapshot */
       PF_SNAPSHOT_CLOCK = 1,
       PF_SNAPSHOT_PRIMARY = 2,
       /* Fields of deepclock; other readers skip them. */
       PF_SNAPSHOT_BOOT = 1000,	      /* text: boot id of the machine */
       PF_SNAPSHOT_WIDTH = 1001,      /* ns between the instant and the furthest reading */
       PF_SNAPSHOT_OWN = 1002,	      /* ns since the first snapshot, by the clock of the events */
       PF_SNAPSHOT_UNIX_ERROR = 1003, /* ns, of REALTIME, as its synchronisation estimates it */
       /* trace_losses; those of the last snapshot with PF_SNAPSHOT_PRIMARY count, 0 if absent */
       PF_SNAPSHOT_DROPPED = 1004,
       PF_SNAPSHOT_LEFT_OUT = 1005,
       PF_SNAPSHOT_OLDER = 1006,
       PF_SNAPSHOT_CUT = 1007,
       PF_SNAPSHOT_SIGNAL = 1008, /* text */
       PF_SNAPSHOT_FIRST_CUT = 1009
};
enum { PF_CLOCK_ID = 1, PF_CLOCK_TIME = 2, PF_CLOCK_INCREMENTAL = 3, PF_CLOCK_MULTIPLIER = 4 };
/* Clocks; ids from 64 to 127 belong to one sequence. */
enum { PF_REALTIME = 1, PF_MONOTONIC = 3, PF_BOOTTIME = 6, PF_OWN_FIRST = 64, PF_OWN_LAST = 127 };

enum { /* TrackDescriptor */
       PF_TRACK_UUID = 1,
       PF_TRACK_NAME = 2,
       PF_TRACK_PROCESS = 3,
       PF_TRACK_THREAD = 4,
       PF_TRACK_PARENT = 5,
       PF_TRACK_COUNTER = 8,
       PF_TRACK_STATIC_NAME = 10,
       PF_TRACK_MERGING = 15, /* sibling_merge_behavior */
       PF_TRACK_DEVICE = 1000 /* of deepclock; other readers skip it: a device's queue */
};
enum { PF_MERGING_NONE = 2 };
enum { PF_PROCESS_PID = 1, PF_PROCESS_COMMAND = 2, PF_PROCESS_NAME = 6 };
enum { PF_THREAD_PID = 1, PF_THREAD_TID = 2, PF_THREAD_NAME = 5, PF_THREAD_US = 6 };
enum {
	PF_COUNTER_UNIT = 3,
	PF_COUNTER_MULTIPLIER = 4,
	PF_COUNTER_INCREMENTAL = 5,
	PF_COUNTER_UNIT_NAME = 6
};
enum { PF_UNIT_NS = 1, PF_UNIT_COUNT = 2, PF_UNIT_BYTES = 3 };

enum {			      /* TrackEvent */
       PF_EVENT_DELTA_US = 1, /* from old producers, like the absolute time below */
       PF_EVENT_CATEGORY_IID = 3,
       PF_EVENT_NUMBER = 4, /* debug_annotations */
       PF_EVENT_LEGACY = 6,
       PF_EVENT_TYPE = 9,
       PF_EVENT_NAME_IID = 10,
       PF_EVENT_TRACK = 11, /* track_uuid */
       PF_EVENT_US = 16,
       PF_EVENT_CATEGORY = 22,
       PF_EVENT_NAME = 23,
       PF_EVENT_COUNTER_INT = 30,
       PF_EVENT_SOURCE = 33,
       PF_EVENT_SOURCE_IID = 34,
       PF_EVENT_FLOW_OLD = 36,
       PF_EVENT_FLOW_END_OLD = 42,
       PF_EVENT_COUNTER_REAL = 44,
       PF_EVENT_FLOW = 47,
       PF_EVENT_FLOW_END = 48 /* terminating_flow_ids */
};
enum { PF_BEGIN = 1, PF_END = 2, PF_INSTANT = 3, PF_COUNTER = 4 };

enum { /* LegacyEvent; the phase is a letter of Chrome's trace events */
       PF_LEGACY_NAME_IID = 1,
       PF_LEGACY_PHASE = 2,
       PF_LEGACY_DURATION_US = 3,
       PF_LEGACY_ID = 6,
       PF_LEGACY_SCOPE = 7,
       PF_LEGACY_LOCAL_ID = 10,
       PF_LEGACY_GLOBAL_ID = 11,
       PF_LEGACY_TO_ENCLOSING = 12,
       PF_LEGACY_PID = 18,
       PF_LEGACY_TID = 19
};

enum { /* DebugAnnotation */
       PF_NUMBER_NAME_IID = 1,
       PF_NUMBER_BOOL = 2,
       PF_NUMBER_UINT = 3,
       PF_NUMBER_INT = 4,
       PF_NUMBER_REAL = 5,
       PF_NUMBER_NAME = 10
};

enum { /* InternedData */
       PF_INTERNED_CATEGORIES = 1,
       PF_INTERNED_EVENT_NAMES = 2,
       PF_INTERNED_NUMBER_NAMES = 3,
       PF_INTERNED_SOURCES = 4,
       PF_INTERNED_FUNCTIONS = 5,
       PF_INTERNED_FRAMES = 6,
       PF_INTERNED_CALLSTACKS = 7,
       PF_INTERNED_MODULES = 17, /* mapping_paths */
       PF_INTERNED_FILES = 18,	 /* source_paths */
       PF_INTERNED_MAPPINGS = 19
};
/* EventCategory, EventName, DebugAnnotationName; SourceLocation has its file as its text. */
enum { PF_NAME_IID = 1, PF_NAME_TEXT = 2, PF_SOURCE_LINE = 4 };

/* Stack samples: PerfSample, its counter, and the parts of its stack. */
enum {
	PF_SAMPLE_CPU = 1,
	PF_SAMPLE_PID = 2,
	PF_SAMPLE_TID = 3,
	PF_SAMPLE_CALLSTACK = 4, /* its iid */
	PF_SAMPLE_MODE = 5,	 /* cpu_mode */
	PF_SAMPLE_COUNT = 6	 /* count of the timebase since its start */
};
enum { PF_MODE_USER = 2 };
enum { PF_SAMPLES_TIMEBASE = 1 }; /* PerfSampleDefaults */
enum { PF_TIMEBASE_RATE = 2, PF_TIMEBASE_COUNTER = 4, PF_TIMEBASE_NAME = 10 };
enum { PF_CPU_CLOCK = 1, PF_TASK_CLOCK = 3 }; /* both in ns */
enum { PF_CALLSTACK_FRAME = 2 }; /* the outermost first; as PF_NAME_IID all have their iid */
enum {				 /* Frame */
       PF_FRAME_FUNCTION = 2,
       PF_FRAME_MAPPING = 3,
       PF_FRAME_FILE = 5,
       PF_FRAME_LINE = 6,
       PF_FRAME_START_LINE = 1000 /* of deepclock; other readers skip it */
};
enum { PF_MAPPING_PATH = 7 };

/* Files of deepclock: the track of a range that any thread may end has this bit and the range's
 * id. */
#define PF_ASYNC_BIT (UINT64_C(1) << 63)
/* Written on a range that was still open when the trace ended. */
#define PF_UNENDED "unended"
/* Written on a piece of a range that continues in the next range of its name, which begins at the
 * same time on the same track. */
#define PF_CONTINUED "continued"

#endif
