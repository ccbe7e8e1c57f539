deepclock --help
