# The library that interposes MPI passes all arguments and the status on, of handles that are ints and pointers, and
# names each call by its ranks. It needs no MPI.
built=$(dirname "$(readlink -f "$(command -v deepclock)")") library=$built/libdeepclock_mpi.so
{ [ -e "$library" ] && [ -e "$built/tests/mpi/mpi_program_ints" ]; } || { echo "libdeepclock_mpi.so and its test were not built"; exit 77; }
! ldd "$library" | grep -q "lib[at]san" || { echo "nothing can be put in front of a program under a sanitizer"; exit 77; }
for handles in ints pointers; do
	program=$built/tests/mpi/mpi_program_$handles
	"$program" > plain
	LD_PRELOAD=$library "$program" > preloaded
	LD_PRELOAD=$library DEEPCLOCK_RANKS_MPI=4 DEEPCLOCK_TRACE=$PWD/$handles.pftrace "$program" > recorded
	cmp plain preloaded && cmp plain recorded && wc -l < recorded
	deepclock report $handles.pftrace --quiet --save $handles.json > out
	record $handles.json '[row[:2] for row in sorted(t("zones")["rows"])]'
done
