# The reader goes away first: an error and not a death by SIGPIPE.
mkfifo pipe
sh -c 'exec 3< pipe; exec 3<&-' &
sh -c 'exec > pipe; sleep 0.3; deepclock zoo resnet18 -o -'
echo $?
