# Without a command the help goes to stderr: it is no result.
deepclock
