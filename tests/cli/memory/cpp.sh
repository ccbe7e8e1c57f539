# Every variant of operator new and delete, and allocations inside the library for them; C++ threads.
heap-program || exit
command -v c++ >/dev/null || { echo "there is no C++ compiler"; exit 77; }
c++ -std=c++17 -g -O1 -pthread "$TESTS/../heaps/in_cpp.cpp" -o in_cpp || exit
deepclock memory --quiet --save run.json -- ./in_cpp >out || cat out
record run.json 'm("memory/heap_leaked")["value"]' '[row[2:4] for row in t("memory/functions")["rows"] if row[0].startswith("leaks")]' \
	'[row[2:5] for row in t("memory/functions")["rows"] if row[0].startswith("no_leaks")]' 'f("memory", "stacks_failed")' \
	'[row[0] for row in t("memory/lines")["rows"] if row[2] == 2000]'
