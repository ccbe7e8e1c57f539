/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/names/function_name.h"

static void types_that_are_returned_are_left_out(void **state)
{
	static const char *const names[][2] = {
	    {"void f<int>(int)", "f<int>(int)"},
	    {"unsigned long const& std::max<unsigned long>(unsigned long const&)",
	     "std::max<unsigned long>(unsigned long const&)"},
	    {"std::enable_if<(a>b), void>::type std::swap<int>(int&, int&)",
	     "std::swap<int>(int&, int&)"},
	    {"bool (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<int>(int)"},
	    {"std::ostream& std::operator<< <char>(std::ostream&, char)",
	     "std::operator<< <char>(std::ostream&, char)"},
	    {"decltype ((g)((x)())) f<int>(int)", "f<int>(int)"},
	    {"auto main::{lambda(auto:1)#1}::operator()<int>(int) const",
	     "main::{lambda(auto:1)#1}::operator()<int>(int) const"},
	    {"std::string name[abi:cxx11]<int>(int)", "name[abi:cxx11]<int>(int)"},
	    {"f(int) const", "f(int) const"},
	    {"a::operator bool() const", "a::operator bool() const"},
	    {"operator new(unsigned long)", "operator new(unsigned long)"},
	    {"f(int)::{lambda(int)#1}::operator()(int) const",
	     "f(int)::{lambda(int)#1}::operator()(int) const"},
	    {"void (*f<int>(int))(char)", "void (*f<int>(int))(char)"},
	    {"a::f()::{lambda(auto:1)#1} a::g<int>(int)", "a::g<int>(int)"},
	    {"a::f() const::{lambda()#1} a::g<int>(int)", "a::g<int>(int)"},
	    {"void a::f(int) const::{lambda()#1}::operator()<int>(int) const",
	     "a::f(int) const::{lambda()#1}::operator()<int>(int) const"},
	    {"non-virtual thunk to a::f(int)", "non-virtual thunk to a::f(int)"},
	    {"guard variable for f(int)::x", "guard variable for f(int)::x"},
	    {"std::cout", "std::cout"},
	    {"two words", "two words"},
	    {"void f<<(", "void f<<("},
	    {"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_string_equal(function_name_begin(names[i][0]), names[i][1]);
}

static void names_are_shortened(void **state)
{
	static const struct {
		const char *name;
		size_t size;
		const char *expected;
	} all[] = {
	    {"f(int, char)", 64, "f(int, char)"},
	    {"a::f(long parameters, of some kind)", 20, "a::f(..)"},
	    {"v<int, long>::f(int)", 20, "v<int, long>::f(..)"},
	    {"std::sort<It<std::vector<int> >, less>(It, It)", 20, "std::sort<..>(..)"},
	    {"std::sort<It<std::vector<int> >, less>(It, It)", 30, "std::sort<It<..>, less>(..)"},
	    {"a::operator()(int, long, char) const", 25, "a::operator()(..) const"},
	    {"operator<< <char>(o&, std::string)", 22, "operator<< <char>(..)"},
	    {"<Vec<String> as Trait<T>>::from(x, y)", 34, "<Vec<..> as Trait<T>>::from(..)"},
	    {"(anonymous namespace)::f(int, char)", 30, "(anonymous namespace)::f(..)"},
	    {"a_name_without_any_bracket_at_all", 20, "a_nam..acket_at_all"},
	    {"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 9, "\xc3\xa4..\xc3\xa4\xc3\xa4"},
	    {"f(((((((", 8, "f..(((("},
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		assert_string_equal(function_name_short(all[i].name, buf, all[i].size),
				    all[i].expected);
}

int test_function_name(void);
int test_function_name(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(types_that_are_returned_are_left_out),
	    cmocka_unit_test(names_are_shortened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
