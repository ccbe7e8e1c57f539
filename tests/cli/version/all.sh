deepclock version
