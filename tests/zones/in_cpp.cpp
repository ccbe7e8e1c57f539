// in_cpp.cpp - zones in C++11: ended by return and by exceptions, in lambdas, templates and
// threads.
//
// SPDX-License-Identifier: Apache-2.0
#include "deepclock/device_zone.h"
#include "deepclock/trace.h"
#include "deepclock/zone.h"

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

static int early(int i)
{
	DCK_ZONE("early");
	if (i % 2)
		return 1;
	DCK_NUMBER("i", i);
	return 0;
}

static void thrown()
{
	DCK_ZONE("thrown");
	throw std::runtime_error("on purpose");
}

static void thrown_on_a_device()
{
	DCK_DEVICE_ZONE(nullptr, "device");
	throw std::runtime_error("on purpose");
}

template <class T> static T twice(T x)
{
	DCK_ZONE("template");
	return x + x;
}

static void work()
{
	auto lambda = [](int i) {
		DCK_ZONE("lambda");
		return early(i);
	};

	for (int i = 0; i < 100; i++) {
		lambda(i);
		twice(i);
		twice(i * 0.5);
		try {
			thrown();
		} catch (const std::exception &) {
			DCK_MARK("caught");
		}
		try {
			thrown_on_a_device();
		} catch (const std::exception &) {
			DCK_DEVICE_PUSH(nullptr, "device by hand");
			DCK_DEVICE_POP(nullptr);
		}
		dck_range r = DCK_START("range");
		DCK_END(r);
		DCK_PUSH("by hand");
		DCK_COUNTER("count", i);
		DCK_POP();
	}
}

static int fail(const char *why)
{
	std::fprintf(stderr, "%s\n", why);
	return 1;
}

int main()
{
	static const struct {
		const char *name;
		int calls;
	} expected[] = {{"early", 400},	 {"thrown", 400},	 {"template", 800},
			{"lambda", 400}, {"range", 400},	 {"by hand", 400},
			{"device", 400}, {"device by hand", 400}};
	dck_trace_config config = dck_trace_config();
	dck_record *r = nullptr;
	dck_err err;
	std::vector<std::thread> threads;

	if (dck_trace_start(&config, &err) != DCK_OK)
		return fail(err.msg);
	for (int i = 0; i < 4; i++)
		threads.emplace_back(work);
	for (auto &t : threads)
		t.join();
	if (dck_trace_stop(&r, &err) != DCK_OK)
		return fail(err.msg);
	const dck_table *t = dck_record_table(r, "zones");
	if (t->nrows != sizeof expected / sizeof *expected)
		return fail("there are other zones");
	for (const auto &e : expected)
		for (size_t i = 0; i < t->nrows; i++) {
			const dck_cell *row = &t->cells[i * t->ncolumns];

			if (!std::strcmp(row->value.as.text, e.name) &&
			    row[1].value.as.i != e.calls)
				return fail(e.name);
		}
	dck_record_free(r);
	return 0;
}
