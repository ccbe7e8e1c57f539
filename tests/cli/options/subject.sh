deepclock bench
echo $?
deepclock bench --time 1s zoo:simplenet zoo:matmul
echo $?
deepclock bench zoo:simplenet -- true
echo $?
deepclock bench --
echo $?
deepclock bench florp:x
echo $?
deepclock bench "cmd:echo 'open"
echo $?
deepclock report
echo $?
deepclock version extra
echo $?
