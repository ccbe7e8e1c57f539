deepclock --version
