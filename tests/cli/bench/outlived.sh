# A process that a run leaves in the background is in no time; the note names it. One that the run waits for is.
deepclock bench --quiet --shell --runs 5 --save run.json -- 'sleep 3 & sleep 0.1' > text
record run.json '"that the runs started (sleep) went on after their end" in note("program-outlived")["text"]'
deepclock bench --quiet --shell --runs 5 --save run.json -- 'sleep 0.1 & wait' > text
record run.json 'note("program-outlived")'
