# Each process of a job is named by its rank, by the variables of its launcher; the traces of all become one.
zone-program || exit
names() {
	deepclock report --quiet --format chrome --out names.json "$@" >out 2>err || cat err
	python3 - names.json <<'END'
import json, sys
t = json.load(open(sys.argv[1]))
print(*sorted(e["args"]["name"] for e in (t["traceEvents"] if isinstance(t, dict) else t) if e.get("name") == "process_name"), sep=", ")
END
}
trace() {
	deepclock trace --quiet --no-waits --out "$name" -- ./program >out 2>err || echo failed
	names "$name"
}
name=torchrun.pftrace RANK=3 WORLD_SIZE=8 SLURM_PROCID=0 SLURM_STEP_ID=0 trace
name=mpi.pftrace OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 trace
name=none.pftrace RANK=3 trace
name=bad.pftrace RANK=x WORLD_SIZE=8 PMI_RANK=12345678 PMI_SIZE=9 trace
names torchrun.pftrace mpi.pftrace
