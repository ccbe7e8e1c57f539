# The answer first, then a few lines.
heap-program || exit
deepclock memory --save run.json -- ./program leak | sed -n '/^  function/,$p'
record run.json 'f("result", "answer").split(" at ")[0]' 'f("result", "answer").split(", ")[1]'
