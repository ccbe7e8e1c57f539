# A reader that closes the pipe is not reported; a full disk is.
printf 'main;a 5\n' > run.folded
(deepclock view run.folded -o -; echo $? > status) | head -c 9
echo
cat status
deepclock view run.folded -o - > /dev/full
