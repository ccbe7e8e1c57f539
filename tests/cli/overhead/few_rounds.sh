# Two rounds that contradict each other show no cost: the answer is not the slowdown by thousands that they would show.
echo 'n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) >n; case $n in 0|3) sleep 0.3;; esac' >program
deepclock overhead --quiet --rounds 2 --method sample --save run.json -- sh program >/dev/null
cat n
record run.json 'f("result", "answer")'
