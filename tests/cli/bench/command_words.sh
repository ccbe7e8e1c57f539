# cmd: keeps quoted words together; --shell runs the line in a shell.
cat > show <<'END'
#!/bin/sh
printf '%s\n' $# "$@" > words
END
chmod +x show
deepclock bench --quiet --runs 1 --warmup 0 "cmd:./show a 'b c' d" > out && cat words
deepclock bench --quiet --runs 1 --warmup 0 -- ./show 'x y' > out && cat words
deepclock bench --quiet --runs 1 --warmup 0 --shell -- 'echo $((6 * 7)) > words' > out && cat words
