# Binary output to a terminal is refused.
on-terminal 80 deepclock zoo simplenet -o - > out
echo $?
grep deepclock: out
