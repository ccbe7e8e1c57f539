# A history that another process is creating is still empty: this process waits for it and does not refuse it.
: > new.db
timeout 20 deepclock bench --runs 3 --quiet --db new.db -- true > out
echo $?
deepclock history list --db new.db --format csv | tail -n +2 | wc -l
for i in 1 2 3 4 5 6 7 8 9 10; do timeout 40 deepclock bench --runs 3 --quiet --db many.db -- true > /dev/null & done
wait
deepclock history list --db many.db --format csv | tail -n +2 | wc -l
