deepclock bench --help
