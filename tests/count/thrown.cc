// thrown.cc - exceptions, templates and threads of C++, built with -finstrument-functions.
//
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <thread>

static volatile int done;

__attribute__((noinline)) static void thrower(int n)
{
	if (n == 0)
		throw std::runtime_error("x");
	thrower(n - 1);
	done = done + 1;
}

template <int N> __attribute__((noinline)) static void many()
{
	for (int i = 0; i < N; i++)
		done = done + 1;
}

__attribute__((noinline)) static void after()
{
	done = done + 1;
}

__attribute__((noinline)) static void catcher()
{
	try {
		thrower(4);
	} catch (const std::exception &) {
		after();
	}
}

int main()
{
	for (int i = 0; i < 50; i++)
		catcher();
	std::thread t([] {
		for (int i = 0; i < 10; i++)
			many<3>();
	});
	t.join();
	many<7>();
	return 0;
}
