// in_cpp.cpp - every form of operator new and delete, and allocations of the C++ library.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

struct alignas(64) wide {
	char bytes[64];
};

static void *volatile keep;

static __attribute__((noinline)) void leaks()
{
	keep = new char[101];
	keep = new (std::nothrow) char[103];
	keep = new wide;
	keep = new (std::nothrow) wide[2];
	keep = ::operator new(107);
	keep = ::operator new(109, std::align_val_t(32));
}

static __attribute__((noinline)) void no_leaks()
{
	delete new int(1);
	delete[] new int[10];
	delete new wide;
	delete[] new wide[3];
	::operator delete(::operator new(10), std::size_t(10));
	::operator delete(::operator new(10, std::align_val_t(128)), std::size_t(10), std::align_val_t(128));
	::operator delete(::operator new(10, std::nothrow), std::nothrow);
}

template <typename T> static __attribute__((noinline)) std::size_t filled(T n)
{
	std::vector<T> v;
	std::map<T, std::string> m;

	for (T i = 0; i < n; i++) {
		v.push_back(i);
		m[i] = std::string(100, 'x');
	}
	return v.size() + m.size();
}

int main()
{
	leaks();
	no_leaks();
	std::thread a([] { keep = new char[filled<int>(1000)]; }), b([] { filled<long>(1000); });
	a.join();
	b.join();
	std::printf("%zu\n", filled<int>(10));
	return 0;
}
