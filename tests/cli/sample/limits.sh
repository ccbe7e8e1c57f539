# The program keeps the descriptor limit of the shell, however many descriptors the sampler needs.
sampled-program || exit
by=$(sampled-by) || { echo "$by"; exit 77; }
for one in $by; do
	(ulimit -Sn 300 && deepclock sample --quiet --source $one -- sh -c 'ulimit -n >>limits' >/dev/null 2>&1)
done
sort -u limits
