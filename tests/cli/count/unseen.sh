# Programs for which LD_PRELOAD cannot work: counters, and the reason why functions are absent.
count-program || exit
static=$(dirname "$(readlink -f "$(command -v deepclock)")")/tests/zones/static_program
[ -x "$static" ] || { echo "$static was not built"; exit 77; }
deepclock count --no-history -q --save run.json -- "$static" >out
record run.json 'note("count-none")["text"]' 'm("counter/page-faults")["value"] > 0'
