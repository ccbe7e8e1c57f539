deepclock engines --help
