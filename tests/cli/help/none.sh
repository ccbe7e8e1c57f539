# Without a command the help goes to stderr: it is not a result.
deepclock
