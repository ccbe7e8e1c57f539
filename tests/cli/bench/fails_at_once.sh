deepclock bench --quiet --engine null --engine-option fail_at=1 --save run.json zoo:simplenet
echo $?
ls
