deepclock report --help
