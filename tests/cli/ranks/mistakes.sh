try() {
	"$@"
	echo $?
}
unset RANK WORLD_SIZE
try deepclock ranks
try deepclock ranks -- no-such-program
try deepclock ranks --warmup -1 -- true
RANK=5 WORLD_SIZE=2 try deepclock ranks -- true
RANK=xyz WORLD_SIZE=abc try deepclock ranks -- true
PMIX_RANK=0 PMIX_NAMESPACE=job try deepclock ranks -- true
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_SIZE=4 try deepclock ranks -- true
RANK=0 WORLD_SIZE=2 try deepclock ranks --rendezvous no-such-directory/file -- true
RANK=0 WORLD_SIZE=2 try deepclock ranks --rendezvous no-such-host.invalid:4711 -- true 2>&1 | sed "s/invalid': .*/invalid'/"
# Without rank 0 the program runs, and its status is the command's.
RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 TORCHELASTIC_RUN_ID=$PWD MASTER_PORT=1 try deepclock ranks --wait 10ms -- echo ran 2>&1 |
	sed "s/on '[^']*'/on 'FILE'/"
# A full disk.
[ -w /dev/full ] || { echo "there is no /dev/full"; exit 77; }
try deepclock ranks --no-history --quiet --save /dev/full -- true 2>&1 | grep -e '^deepclock' -e '^[0-9]'
